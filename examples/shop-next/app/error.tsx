'use client';

/** The customer's page when the service cannot be reached, or no amount is free. The server's log has the error. */
export default function FailurePage() {
  return (
    <>
      <h1>That did not work</h1>
      <p>
        Nothing was charged. <a href="/">Try again later</a>
      </p>
    </>
  );
}
