import { expect, test, vi } from 'vitest';
import * as z from 'zod/mini';
import { hooksSchema, runHook } from '../../src/input/hooks.js';

interface Facts {
  request: { attempt: number };
  end: { ok: boolean };
}
const schema = z.strictObject({ hooks: z.optional(hooksSchema<Facts>(['request', 'end'])) });
const messagesOf = (hooks: unknown) =>
  z.safeParse(schema, { hooks }).error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`);

test('an object of functions is read, and each called with its facts', () => {
  const end = vi.fn();
  const { hooks } = z.parse(schema, { hooks: { end, request: undefined } });
  runHook(hooks?.request, { attempt: 1 });
  runHook(hooks?.end, { ok: true });
  expect(end.mock.calls).toEqual([[{ ok: true }]]);
});

test('methods of a class, and those that it inherits, are called with the instance as this', () => {
  class Counter {
    readonly counted: unknown[] = [];
    end(facts: unknown) {
      this.counted.push(facts);
    }
  }
  class Loud extends Counter {
    note = 'a field of its own is no hook';
  }
  const given = new Loud();
  runHook(z.parse(schema, { hooks: given }).hooks?.end, { ok: false });
  expect(given.counted).toEqual([{ ok: false }]);
});

test.each<[unknown, string]>([
  [5, 'hooks must be an object of functions, got the number 5.'],
  [{ end: 5 }, 'hooks.end must be a function, got the number 5.'],
  [{ requst: () => {} }, 'hooks.requst is unknown. Did you mean request?'],
  [new (class Empty {})(), 'hooks must have a method request, end.'],
])('%o is refused', (hooks, message) => {
  expect(messagesOf(hooks)).toEqual([message]);
});

test('what a hook throws or rejects with is ignored', async () => {
  runHook(() => {
    throw new Error('hook');
  }, {});
  runHook(() => Promise.reject(new Error('hook')), {});
  await new Promise(setImmediate);
});
