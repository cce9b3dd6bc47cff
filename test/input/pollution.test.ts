import { afterEach, expect, test } from 'vitest';
import { prototypeProblem } from '../../src/input/pollution.js';

afterEach(() => {
  Reflect.deleteProperty(Object.prototype, 'polluted');
});

test('nothing is wrong with a clean prototype', () => {
  expect(prototypeProblem()).toBeUndefined();
});

test('an enumerable field of Object.prototype is named', () => {
  Object.defineProperty(Object.prototype, 'polluted', {
    value: 1,
    enumerable: true,
    configurable: true,
    writable: true,
  });
  expect(prototypeProblem()).toContain('Object.prototype has the field "polluted"');
});

test('a field that is not enumerable is left alone, as polyfills add them', () => {
  Object.defineProperty(Object.prototype, 'polluted', { value: 1, configurable: true });
  expect(prototypeProblem()).toBeUndefined();
});
