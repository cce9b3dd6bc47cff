import fc from 'fast-check';
import { expect, it } from 'vitest';
import { check } from '../helpers/fuzz.js';

const below1000 = () => fc.property(fc.nat(1_000_000), (value) => value < 1_000);
const failure = await check(below1000(), 100, []).catch((error: Error) => error.message);

it('a failure prints its smallest example and the line that keeps it', () => {
  expect(failure).toMatch(/Counterexample: \[1000\]/);
  expect(failure).toMatch(/add to test\/fuzz\/kept\.json:\n\{.*"seed":20260101,"path":"[\d:]+"/);
});

it('a failure that was kept is tried again, before any other value', async () => {
  const [, path = ''] = /"path":"([\d:]+)"/.exec(String(failure)) ?? [];
  const tried: number[] = [];
  const again = fc.property(fc.nat(1_000_000), (value) => {
    tried.push(value);
    return value < 1_000;
  });
  await expect(check(again, 100, [{ seed: 20_260_101, path }])).rejects.toThrow('Counterexample: [1000]');
  expect(tried[0]).toBe(1_000);
});
