import fc from 'fast-check';
import { expect, it } from 'vitest';
import { check } from '../helpers/fuzz.js';

const tooLarge = () => fc.property(fc.nat(1_000_000), (value) => value < 1_000);
const failure = await check(tooLarge(), 100, []).catch((error: Error) => error.message);
const [, line = ''] = /add to test\/fuzz\/kept\.json:\n(.*)/.exec(String(failure)) ?? [];

it('a failure prints its smallest example and the line that keeps it', () => {
  expect(failure).toMatch(/Counterexample: \[1000\]/);
  const [kept] = Object.values(JSON.parse(line));
  expect(kept).toEqual([{ seed: expect.any(Number), path: expect.stringMatching(/^[\d:]+$/) }]);
});

it('a failure that was kept is tried again, before any other value', async () => {
  const [kept] = Object.values<{ seed: number; path: string }[]>(JSON.parse(line));
  const tried: number[] = [];
  const again = fc.property(fc.nat(1_000_000), (value) => {
    tried.push(value);
    return value < 1_000;
  });
  await expect(check(again, 100, kept)).rejects.toThrow('Counterexample: [1000]');
  expect(tried).toEqual([1_000]);
});
