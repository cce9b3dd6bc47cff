import { inspect } from 'node:util';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { PaymentsClient, PaymentsError } from '../../src/index.js';
import { check } from '../helpers/fuzz.js';

const apiKey = 'service_test_canary_5bX81qLw';

/** Returns the outcome of a call whose response has these bytes. */
async function outcomeOf(status: number, body: Uint8Array<ArrayBuffer>, type: string): Promise<unknown> {
  const payments = new PaymentsClient({
    apiKey,
    baseUrl: 'https://api.example',
    maxRetries: 0,
    fetch: async () => {
      const hasBody = ![101, 204, 205, 304].includes(status);
      return new Response(hasBody ? body : null, { status, headers: { 'content-type': type } });
    },
  });
  return payments.balance.retrieve().catch((error: unknown) => error);
}

describe('a response, whatever it holds', () => {
  const bytes = (text: string) => new Uint8Array(new TextEncoder().encode(text));
  const field = fc.oneof(fc.anything(), fc.constantFrom(0, 401, '0', null, 'success'));
  const envelope = fc.record({ code: field, message: field, data: field }, { requiredKeys: [] });
  const text = fc.oneof(
    fc.json(),
    fc.string({ unit: 'binary' }),
    envelope.map((value) => safeJson(value)),
    fc.json().map((data) => `{"code":0,"message":"success","data":${data}}`),
    fc.json().map((data) => `{"code":0,"data":{"available":${data},"pending":[],"__proto__":${data}}}`),
    fc.constant(`{"code":401,"message":"bad key ${apiKey}"}`),
  );
  const body = fc.oneof(
    text.map(bytes),
    fc.uint8Array().map((given) => new Uint8Array(given)),
  );
  const status = fc.oneof(
    fc.constantFrom(200, 201, 204, 302, 401, 404, 429, 500, 503),
    fc.integer({ min: 200, max: 599 }),
  );
  const type = fc.constantFrom(
    'application/json',
    'text/html; charset=utf-16',
    '',
    'application/problem+json',
  );

  it('becomes data or one of our errors, and the key is in neither', () =>
    check(
      fc.asyncProperty(status, body, type, async (status, body, type) => {
        const outcome = await outcomeOf(status, body, type);
        if (outcome instanceof Error) {
          expect(outcome).toBeInstanceOf(PaymentsError);
          expect(inspect(outcome, { showHidden: true, depth: 10 })).not.toContain(apiKey);
        } else {
          expect(Object.getPrototypeOf(outcome)).toBe(Object.prototype);
        }
        expect(Object.prototype).not.toHaveProperty('polluted');
      }),
      300,
    ));
});

function safeJson(value: unknown): string {
  try {
    return JSON.stringify(value, (_, each) => (typeof each === 'bigint' ? String(each) : each)) ?? '';
  } catch {
    return ''; // a value that refers to itself
  }
}
