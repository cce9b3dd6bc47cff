import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { durationMs } from '../../src/input/duration.js';

test.each<[unknown, number]>([
  ['500ms', 500],
  ['5s', 5000],
  ['2m', 120_000],
  ['3h', 10_800_000],
  ['90d', 7_776_000_000],
  ['1.5s', 1500],
  ['0s', 0],
  [0, 0],
  [250, 250],
  [0.6, 1],
])('%s is %d milliseconds', (given, ms) => {
  expect(z.parse(durationMs(), given)).toBe(ms);
});

test.each<[unknown, string]>([
  ['5', '"5" has no unit. Pass "5s" for seconds; the units are ms, s, m, h and d.'],
  ['36501d', '"36501d" is too long. Pass at most "36500d".'],
  [1e300, '1e+300 is too long. Pass at most "36500d".'],
  [Number.POSITIVE_INFINITY, 'Infinity is too long. Pass at most "36500d".'],
  ...['5 s', 's', '-5s', '5S', '5w', '5sec', ' 5s', '5s ', '1e3s', '.5s', '5.s', '5constructor', ''].map(
    (text): [unknown, string] => [
      text,
      `"${text}" is not a duration. Pass one such as "30s", "5m", "2h" or "1d".`,
    ],
  ),
  [-1, '-1 is not a duration. Pass one such as "30s", "5m", "2h" or "1d".'],
  [Number.NaN, 'NaN is not a duration. Pass one such as "30s", "5m", "2h" or "1d".'],
  [null, 'null is not a duration. Pass one such as "30s", "5m", "2h" or "1d".'],
  [undefined, 'is missing. Pass a duration such as "30s", "5m", "2h" or "1d".'],
  [['5s'], 'an array is not a duration. Pass one such as "30s", "5m", "2h" or "1d".'],
])('%o is refused', (given, message) => {
  expect(z.safeParse(durationMs(), given).error?.issues).toMatchObject([{ message }]);
});

test('the message shows a limit as it was written', () => {
  const upToAWeek = durationMs('1s', '7d');
  expect(z.safeParse(upToAWeek, '8d').error?.issues).toMatchObject([
    { message: '"8d" is too long. Pass at most "7d".' },
  ]);
  expect(z.safeParse(upToAWeek, 999).error?.issues).toMatchObject([
    { message: '999 is too short. Pass at least "1s".' },
  ]);
  expect(z.parse(upToAWeek, '7d')).toBe(604_800_000);
});
