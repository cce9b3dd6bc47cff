import { createHash } from 'node:crypto';
import { afterEach, describe, expect, it } from 'vitest';
import { sign, verify } from '../../src/webhooks/index.js';
import { bodyOf, cases, optionsOf, vectors } from '../helpers/webhook-cases.js';

const classes = {
  config: { name: 'WebhookConfigError', httpStatus: 500 },
  verification: { name: 'WebhookVerificationError', httpStatus: 400 },
  payload: { name: 'WebhookPayloadError', httpStatus: 500 },
};

describe('attacks and edge cases', () => {
  afterEach(() => {
    Reflect.deleteProperty(Object.prototype, 'x-service-signature');
    Reflect.deleteProperty(Object.prototype, 'x-service-timestamp');
  });

  for (const one of cases) {
    it(`${one.id}: ${one.title} → ${one.code ?? 'accepted'}`, () => {
      const options = optionsOf(one);
      // More is refused than the case asks for: while the prototype is polluted, nothing is verified.
      const isPolluted = one.headersForm === 'polluted-prototype';
      if (isPolluted) {
        const minimal = vectors[0];
        Reflect.set(Object.prototype, 'x-service-signature', minimal?.hmacSha256.hex);
        Reflect.set(Object.prototype, 'x-service-timestamp', minimal?.timestamp);
      }
      const outcome = attempt(options);
      if (isPolluted) expect(outcome).toMatchObject({ ...classes.config, code: 'invalid_options' });
      else if (one.kind) {
        expect(outcome).toMatchObject({ ...classes[one.kind], code: one.code });
      } else {
        expect(outcome).toMatchObject(
          one.value ?? { type: one.id === 'pay-unknown-type' ? 'unknown' : 'order.paid' },
        );
        expect(attempt(optionsOf(one))).toEqual(outcome);
      }
    });
  }
});

describe('vectors', () => {
  for (const one of vectors) {
    const rawBody = bodyOf(one);
    const { secret, timestamp } = one;
    const iso = timestamp.includes('T');
    const at = iso ? new Date(timestamp) : new Date(Number(timestamp) * (timestamp.length > 11 ? 1 : 1000));
    const unit = iso ? 'iso8601' : timestamp.length > 11 ? 'milliseconds' : 'auto';
    const forms = [
      { name: 'hex', scheme: {}, signature: one.hmacSha256.hex },
      { name: 'base64', scheme: { encoding: 'base64' }, signature: one.hmacSha256.base64 },
      { name: 'base64url', scheme: { encoding: 'base64url' }, signature: one.hmacSha256.base64url },
      { name: 'SHA-512', scheme: { algorithm: 'sha512' }, signature: one.hmacSha512.hex },
      { name: 'body alone', scheme: { content: '{body}' }, signature: one.bodyOnlySha256.hex },
      {
        name: 'Standard Webhooks',
        scheme: {
          encoding: 'base64',
          prefix: 'v1,',
          separator: ' ',
          secretEncoding: 'base64',
          content: `${one.standardWebhooks.id}.{timestamp}.{body}`,
        },
        signature: one.standardWebhooks.signature,
        secret: one.standardWebhooks.secret,
      },
    ] as const;
    for (const form of forms) {
      const scheme = { ...form.scheme, timestamp: unit } as const;
      const key = 'secret' in form ? form.secret : secret;
      const headers = { 'x-service-signature': form.signature, 'x-service-timestamp': timestamp };

      it(`${one.id}: the published ${form.name} signature is accepted`, () => {
        expect(isAuthentic(attempt({ rawBody, headers, secret: key, scheme, receivedAt: at }))).toBe(true);
      });

      // Text of a timestamp has several spellings in ISO 8601; sign() writes the one with milliseconds.
      if (!iso || timestamp.includes('.')) {
        it(`${one.id}: sign() makes the published ${form.name} signature`, () => {
          expect(sign({ rawBody, secret: key, timestamp: at, scheme })).toEqual(headers);
        });
      }
    }

    it(`${one.id}: the body's facts are those of a failed verification`, () => {
      expect(bodyOf(one).byteLength).toBe(one.bodyLength);
      expect(createHash('sha256').update(rawBody).digest('hex')).toBe(one.bodySha256);
      const headers = { 'x-service-signature': '0'.repeat(64), 'x-service-timestamp': '1767225600' };
      expect(attempt({ rawBody, headers, secret })).toMatchObject({
        code: 'signature_mismatch',
        received: { bytes: one.bodyLength, sha256: one.bodySha256 },
      });
    });
  }
});

/** Past the MAC: an event, or an authentic body that is none. */
function isAuthentic(outcome: unknown): boolean {
  return !(outcome instanceof Error) || outcome.name === 'WebhookPayloadError';
}

function attempt(options: object): unknown {
  try {
    return Reflect.apply(verify, undefined, [options]);
  } catch (error) {
    return error;
  }
}
