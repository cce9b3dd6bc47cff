import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { verify } from '../../src/webhooks/index.js';
import { check } from '../helpers/fuzz.js';
import { bodyOf, vector } from '../helpers/webhook-cases.js';

const minimal = vector('minimal');
const good: [string, string][] = [
  ['x-service-signature', minimal.hmacSha256.hex],
  ['x-service-timestamp', minimal.timestamp],
];

function codeOf(headers: unknown): unknown {
  const options = {
    rawBody: bodyOf(minimal),
    headers,
    secret: minimal.secret,
    receivedAt: new Date('2026-01-01T00:00:00Z'),
  };
  try {
    Reflect.apply(verify, undefined, [options]);
    return 'accepted';
  } catch (error) {
    return error instanceof Error && 'code' in error ? error.code : error;
  }
}

describe('headers, whatever they hold', () => {
  const name = fc.stringMatching(/^[a-z][a-z-]{0,20}$/).filter((each) => !each.startsWith('x-service-'));
  const value = fc.stringMatching(/^[!-~]{1,40}$/);
  const others = fc.uniqueArray(fc.tuple(name, value), { selector: ([each]) => each, maxLength: 6 });
  const spelled = fc.func(fc.boolean());

  it('give one result in every container, order and spelling, among any others', () =>
    check(
      fc.property(others, fc.nat(), fc.nat(), spelled, (added, first, second, isUpper) => {
        const pairs = [...added];
        for (const [place, pair] of [first, second].map((place, index) => [place, good[index]] as const)) {
          if (pair) pairs.splice(place % (pairs.length + 1), 0, pair);
        }
        const written = pairs.map(([each, text]): [string, string] => [
          [...each].map((letter, index) => (isUpper(each, index) ? letter.toUpperCase() : letter)).join(''),
          text,
        ]);
        for (const container of [
          written,
          new Map(written),
          new Headers(written),
          Object.fromEntries(written),
          Object.fromEntries(written.map(([each, text]) => [each, [text]])),
        ]) {
          expect(codeOf(container)).toBe('accepted');
        }
      }),
      200,
    ));

  it('are refused where one of the two occurs twice, whatever the second value is', () =>
    check(
      fc.property(fc.constantFrom(0, 1), value, fc.boolean(), (which, second, isFirst) => {
        const [repeated = ''] = good[which] ?? [];
        const extra: [string, string] = [repeated.toUpperCase(), second];
        const headers = isFirst ? [extra, ...good] : [...good, extra];
        expect(codeOf(headers)).toBe('duplicate_header');
        expect(codeOf(Object.fromEntries(headers))).toBe('duplicate_header');
        const [, value] = good[which] ?? [];
        const both = isFirst ? [second, value] : [value, second];
        const others = good.filter(([name]) => name !== repeated);
        expect(codeOf([...others, [repeated, both]])).toBe('duplicate_header');
        expect(codeOf(new Map<string, unknown>([...others, [repeated, both]]))).toBe('duplicate_header');
        expect(codeOf({ ...Object.fromEntries(others), [repeated]: both })).toBe('duplicate_header');
      }),
      200,
    ));
});
