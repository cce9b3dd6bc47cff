import { expect, it } from 'vitest';
import { readDuration } from '../../src/inbox/params.js';

it.each<[unknown, number]>([
  ['500ms', 500],
  ['5s', 5000],
  ['2m', 120_000],
  ['3h', 10_800_000],
  ['90d', 7_776_000_000],
  ['1.5s', 1500],
  ['1.25s', 1250],
  ['0s', 0],
  [0, 0],
  [250, 250],
  [0.5, 0.5],
])('reads %s as %d milliseconds', (given, ms) => {
  expect(readDuration(given)).toBe(ms);
});

it.each([
  '5',
  '5 s',
  's',
  '-5s',
  '5S',
  '5w',
  '5sec',
  ' 5s',
  '5s ',
  '1e3s',
  '.5s',
  '5.s',
  '5constructor',
  '',
  -1,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  null,
  undefined,
  {},
  ['5s'],
  5n,
])('refuses %o', (given) => {
  expect(readDuration(given)).toBeUndefined();
});
