// The published verifiers behind conformance's protocol: `node public-verifiers.mjs <package>`.
import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import { verify as verifyGithub } from '@octokit/webhooks-methods';
import { verify, WebhookVerificationError } from 'merchant-payments/webhooks';
import * as standardWebhooks from 'standardwebhooks';
import Stripe from 'stripe';
import * as svix from 'svix';

class Refusal extends Error {}

const headerOf = (headers, name) => headers.find(([each]) => each === name)?.[1];

/** `accept` returns or throws; `isRefusal` knows the errors that the package declares for a delivery that is not authentic. */
export const verifiers = {
  'merchant-payments': {
    scheme: 'default',
    accept: ({ body, headers, secrets, now, toleranceSeconds, scheme }) =>
      verify({
        rawBody: body,
        headers,
        secret: secrets,
        receivedAt: new Date(now * 1000),
        toleranceSeconds,
        scheme,
      }),
    isRefusal: (error) => ['config', 'verification', 'payload'].includes(kindOf(error)),
    kindOf,
  },
  stripe: {
    scheme: 'stripe',
    accept: ({ body, headers, secrets: [secret] }) =>
      Stripe.webhooks.constructEvent(body, headerOf(headers, 'stripe-signature'), secret),
    isRefusal: (error) => error instanceof Stripe.errors.StripeSignatureVerificationError,
  },
  standardwebhooks: {
    scheme: 'standard-webhooks',
    accept: ({ body, headers, secrets: [secret] }) =>
      new standardWebhooks.Webhook(secret).verify(body, Object.fromEntries(headers)),
    isRefusal: (error) => error instanceof standardWebhooks.WebhookVerificationError,
  },
  svix: {
    scheme: 'standard-webhooks',
    accept: ({ body, headers, secrets: [secret] }) =>
      new svix.Webhook(secret).verify(body, Object.fromEntries(headers)),
    isRefusal: (error) => error instanceof svix.WebhookVerificationError,
  },
  '@octokit/webhooks-methods': {
    scheme: 'github',
    accept: async ({ body, headers, secrets: [secret] }) => {
      const signature = headerOf(headers, 'x-hub-signature-256');
      if (!(await verifyGithub(secret, body.toString(), signature))) throw new Refusal();
    },
    // verify() resolves to false, and throws for an argument that is missing.
    isRefusal: (error) =>
      error instanceof Refusal || /secret, eventPayload & signature required/.test(error.message),
  },
};

function kindOf(error) {
  if (error instanceof WebhookVerificationError) return 'verification';
  return { WebhookConfigError: 'config', WebhookPayloadError: 'payload' }[error.name];
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const verifier = verifiers[process.argv[2]];
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, body, ...question } = JSON.parse(line);
    const outcome = await outcomeOf(verifier, { ...question, body: Buffer.from(body, 'base64') });
    console.log(JSON.stringify({ id, ...outcome }));
  }
}

async function outcomeOf(verifier, delivery) {
  try {
    return { result: 'accepted', event: await verifier.accept(delivery) };
  } catch (error) {
    if (!verifier.isRefusal(error)) return { result: 'crashed', note: `${error.name}: ${error.message}` };
    return { result: 'rejected', kind: verifier.kindOf?.(error) };
  }
}
