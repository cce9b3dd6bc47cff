// Signatures made by others' published packages, verified through `scheme`.
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sign as githubSign } from '@octokit/webhooks-methods';
import { type VerifyOptions, verify } from 'merchant-payments/webhooks';
import { Webhook } from 'standardwebhooks';
import Stripe from 'stripe';

const secret = 'whsec_d2hzZWNfbWVyY2hhbnRfdGVzdF83UW0yeFY5Yw==';
const rawBody = JSON.stringify({
  type: 'order.paid',
  data: { order_id: 'ord_é_1', amount: '19.90', currency: 'USD' },
});
const receivedAt = new Date('2026-01-01T00:00:00Z');
const seconds = receivedAt.getTime() / 1000;

/** The delivery is accepted, and refused once a byte of its body has changed. */
function provesItself(options: VerifyOptions): void {
  const event = verify(options);
  assert.equal(event.type === 'order.paid' && event.data.order_id, 'ord_é_1');
  assert.throws(() => verify({ ...options, rawBody: rawBody.replace('19.90', '18.90') }), {
    name: 'WebhookVerificationError',
    code: 'signature_mismatch',
  });
}

test("verifies the header of Stripe's signer", () => {
  const signed = Stripe.webhooks.generateTestHeaderString({ payload: rawBody, secret, timestamp: seconds });
  provesItself({
    rawBody,
    headers: { 'stripe-signature': signed, 'x-sent-at': String(seconds) },
    secret,
    receivedAt,
    scheme: {
      signatureHeader: 'stripe-signature',
      timestampHeader: 'x-sent-at',
      prefix: 'v1=',
      separator: ',',
    },
  });
});

test("verifies the signature of Octokit's sign, which covers the body alone", async () => {
  provesItself({
    rawBody,
    headers: new Headers({
      'x-hub-signature-256': await githubSign(secret, rawBody),
      'x-service-timestamp': String(seconds),
    }),
    secret,
    receivedAt,
    scheme: { signatureHeader: 'x-hub-signature-256', prefix: 'sha256=', content: '{body}' },
  });
});

test('verifies the signature of Standard Webhooks, whose id stands in the content', () => {
  const id = 'msg_2KWPBgLlAfxdpx2AI54pPJ85f4W';
  provesItself({
    rawBody,
    headers: {
      'webhook-signature': new Webhook(secret).sign(id, receivedAt, rawBody),
      'webhook-timestamp': String(seconds),
    },
    secret,
    receivedAt,
    scheme: {
      signatureHeader: 'webhook-signature',
      timestampHeader: 'webhook-timestamp',
      content: `${id}.{timestamp}.{body}`,
      encoding: 'base64',
      prefix: 'v1,',
      separator: ' ',
      secretEncoding: 'base64',
    },
  });
});
