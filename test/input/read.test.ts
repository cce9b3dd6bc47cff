import { InvalidParamsError, type Issue } from 'merchant-payments';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';
import { integer, mustBe, readInput, readInto, readParams } from '../../src/input/read.js';

const schema = z.strictObject({
  maxRetries: z.optional(integer(0, 100)),
  encoding: z._default(z.enum(['hex', 'base64', 'base64url']), 'hex'),
  strict: z.optional(z.boolean()),
  name: z.optional(
    z.string({ error: mustBe('a string of 1 to 5 characters') }).check(z.maxLength(5, 'is long.')),
  ),
  scheme: z.optional(z.strictObject({ prefix: z.optional(z.string()) })),
});

function issuesOf(given: unknown): Issue[] {
  const issues: Issue[] = [];
  expect(readInto(issues, schema, given)).toBeUndefined();
  return issues;
}

const problemOf = (given: unknown) =>
  issuesOf(given)
    .map(({ path, message }) => `${path} ${message}`)
    .join(' ');

test('returns a copy of what was passed, with defaults', () => {
  const given = { maxRetries: 3, scheme: { prefix: 'v1=' } };
  const read = readParams('test', schema, given);
  given.scheme.prefix = 'changed later';
  expect(read).toEqual({ maxRetries: 3, encoding: 'hex', scheme: { prefix: 'v1=' } });
});

test('takes undefined as absent', () => {
  expect(readParams('test', schema, { maxRetries: undefined, encoding: undefined })).toEqual({
    encoding: 'hex',
  });
});

test('reads the accessors of a class, and ignores those that are no option', () => {
  class Config {
    readonly #retries = 4;
    get maxRetries() {
      return this.#retries;
    }
    get region() {
      return 'eu';
    }
  }
  expect(readParams('test', schema, new Config())).toEqual({ maxRetries: 4, encoding: 'hex' });
});

describe('an unknown name', () => {
  test.each([
    ['maxRetry', 'maxRetry is unknown. Did you mean maxRetries?'],
    ['max_retries', 'max_retries is unknown. Did you mean maxRetries?'],
    ['x'.repeat(70), `${'x'.repeat(60)} is unknown. Known are maxRetries, encoding, strict, name, scheme.`],
    ['a\nb', 'a\\u000ab is unknown. Known are maxRetries, encoding, strict, name, scheme.'],
    ['__proto__', '__proto__ is unknown. Known are maxRetries, encoding, strict, name, scheme.'],
  ])('%j is refused', (name, problem) => {
    expect(problemOf(JSON.parse(`{${JSON.stringify(name)}:1}`))).toBe(problem);
  });

  test('of an object within is refused with the names of that object', () => {
    expect(problemOf({ scheme: { prefx: 'v1=' } })).toBe('scheme.prefx is unknown. Did you mean prefix?');
  });

  test('is refused even if its value is undefined', () => {
    expect(problemOf({ maxRetry: undefined })).toContain('maxRetry is unknown.');
  });
});

test.each([
  [{ maxRetries: 1.5 }, 'maxRetries must be an integer from 0 to 100, got the number 1.5.'],
  [{ maxRetries: 101 }, 'maxRetries must be an integer from 0 to 100, got the number 101.'],
  [{ maxRetries: null }, 'maxRetries must be an integer from 0 to 100, got null.'],
  [{ encoding: 'hax' }, 'encoding must be "hex", "base64" or "base64url", got a string.'],
  [{ strict: 1 }, 'strict must be true or false, got the number 1.'],
  [{ name: ['x'] }, 'name must be a string of 1 to 5 characters, got an array.'],
  [{ name: 'longer' }, 'name is long.'],
  [{ scheme: [] }, 'scheme must be an object, got an array.'],
])('%j is refused in words', (given, problem) => {
  expect(problemOf(given)).toBe(problem);
});

test.each<[string, unknown]>([
  ['null', null],
  ['a number', 5],
  ['a string', 'text'],
  ['an array', []],
  ['a function', () => {}],
  ['a body', new Uint8Array(2 ** 20)],
])('%s is no object of options', (_, given) => {
  expect(issuesOf(given)).toEqual([{ path: '', message: expect.stringContaining('must be an object') }]);
});

test('quotes no string, which may be a secret in the wrong place', () => {
  expect(
    problemOf({ maxRetries: 'whsec_canary', strict: 'whsec_canary', scheme: 'whsec_canary' }),
  ).not.toContain('canary');
});

test('every problem comes at once', () => {
  expect(problemOf({ timeout: 1, maxRetries: -1, strict: 'yes' })).toBe(
    'maxRetries must be an integer from 0 to 100, got the number -1. strict must be true or false, got a string. ' +
      'timeout is unknown. Known are maxRetries, encoding, strict, name, scheme.',
  );
});

test('each folder throws an error of its own', () => {
  expect(() => readParams('inbox.list', schema, { strict: 1 })).toThrow(
    new InvalidParamsError({ operation: 'inbox.list' }, [
      { path: 'strict', message: 'must be true or false, got the number 1.' },
    ]),
  );
  const refuse = (issues: readonly Issue[]) => new RangeError(`${issues.length} problems`);
  expect(() => readInput(schema, { strict: 1, foo: 1 }, refuse)).toThrow(new RangeError('2 problems'));
});
