import { ConfigurationError } from 'merchant-payments';
import { afterEach, expect, test } from 'vitest';
import { checkPrototype } from '../../src/input/pollution.js';

afterEach(() => {
  Reflect.deleteProperty(Object.prototype, 'polluted');
});

test('an unchanged Object.prototype passes', () => {
  expect(checkPrototype).not.toThrow();
});

test('an enumerable field of Object.prototype is named', () => {
  Object.defineProperty(Object.prototype, 'polluted', {
    value: 1,
    enumerable: true,
    configurable: true,
    writable: true,
  });
  expect(checkPrototype).toThrow(ConfigurationError);
  expect(checkPrototype).toThrow('Object.prototype has the field "polluted"');
  expect(() => checkPrototype((message) => new RangeError(message))).toThrow(RangeError);
});

test('a field that is not enumerable is left alone, as polyfills add them', () => {
  Object.defineProperty(Object.prototype, 'polluted', { value: 1, configurable: true });
  expect(checkPrototype).not.toThrow();
});
