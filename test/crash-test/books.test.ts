import { describe, expect, test } from 'vitest';
import { LineError, plainAmount, readBooks, readOpened } from '../../src/crash-test/books.js';

describe('a line of the books', () => {
  test.each([
    ['ord_1,19.90', { orderId: 'ord_1', amount: '19.90', isHeld: false }],
    ['ord_1,19.9', { orderId: 'ord_1', amount: '19.90', isHeld: false }],
    ['"ord_1","19.90"', { orderId: 'ord_1', amount: '19.90', isHeld: false }],
    ['ord_1\t19.900', { orderId: 'ord_1', amount: '19.90', isHeld: false }],
    ['ord_1,19,90', { orderId: 'ord_1', amount: '19,90', isHeld: false }],
    [
      '{"order_id":"ord_1","amount":"19.90","reference":"o7"}',
      { orderId: 'ord_1', amount: '19.90', reference: 'o7', isHeld: false },
    ],
    ['{"order_id":"ord_1","amount":19.9}', { orderId: 'ord_1', amount: '19.90', isHeld: false }],
    ['{"order_id":"ord_1","held":true}', { orderId: 'ord_1', isHeld: true }],
  ])('%s is read', (text, line) => {
    expect(readBooks(`${text}\n`)).toEqual([line]);
  });

  test.each([
    'order_id,amount',
    'ord_1',
    'ord_1 19.90',
    'ord_1,19.90,USD',
    '(2 rows)',
    '{"order_id":"ord_1"}',
    '{"amount":"1.00"}',
    '{',
  ])('%s is named with its number', (text) => {
    expect(() => readBooks(`ord_1,1.00\n\n${text}\n`)).toThrow(LineError);
    expect(() => readBooks(`ord_1,1.00\n\n${text}\n`)).toThrow('Line 3 of the books is ');
  });
});

describe('a line that --open printed', () => {
  test.each([
    ['o7,19.9', { reference: 'o7', amount: '19.90' }],
    ['{"reference":"o7","amount":"19.90","currency":"USD"}', { reference: 'o7', amount: '19.90' }],
    ['{"reference":7,"amount":19.9}', { reference: '7', amount: '19.90' }],
  ])('%s is an order', (text, order) => {
    expect(readOpened(`${text}\n`)).toEqual([order]);
  });

  test.each(['200 orders opened', 'reference,amount', 'o7,19,90', '{"reference":"o7"}', '{'])(
    '%s is named with its number',
    (text) => {
      expect(() => readOpened(`o6,1.00\n\n${text}\n`)).toThrow('Line 3 of what --open printed is ');
    },
  );
});

test('amounts are compared as decimals', () => {
  expect(['1', '1.0', '01.00', '1.000'].map(plainAmount)).toEqual(Array(4).fill('1.00'));
  expect(plainAmount('1.005')).toBe('1.005');
});
