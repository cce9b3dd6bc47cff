import { expect, test } from 'vitest';
import { Signal } from '../../src/sandbox/signal.js';

test('first() looks at no value after the one that fits', async () => {
  const signal = new Signal<number>();
  const seen: number[] = [];
  const look = (value: number) => {
    seen.push(value);
    return value === 2 ? 'two' : undefined;
  };
  const first = signal.first(look, 5000, []);
  for (const value of [1, 2, 3]) signal.emit(value);
  expect(await first).toBe('two');
  expect(seen).toEqual([1, 2]);
});

test('first() waits longer than the longest timer', async () => {
  const signal = new Signal<number>();
  const first = signal.first((value) => value, Number.POSITIVE_INFINITY, []);
  await new Promise((resolve) => setTimeout(resolve, 20));
  signal.emit(1);
  expect(await first).toBe(1);
});

test('first() ends with the time, with a signal, and with an error', async () => {
  const signal = new Signal<number>();
  const nothing = () => undefined;
  expect(await signal.first(nothing, 1, [])).toBeUndefined();
  expect(await signal.first(nothing, 60_000, [AbortSignal.abort()])).toBeUndefined();
  const failing = signal.first(
    () => {
      throw new Error('no');
    },
    60_000,
    [],
  );
  signal.emit(1);
  await expect(failing).rejects.toThrow('no');
});
