'use client';

/** The customer's page when the service cannot be reached. The server's log has the error. */
export default function Failed() {
  return (
    <>
      <h1>The shop cannot reach the payment service</h1>
      <p>
        Nothing was charged. <a href="/">Try again in a minute</a>
      </p>
    </>
  );
}
