import { describe, expect, test, vi } from 'vitest';
import {
  backOffMs,
  longestRetryAfterMs,
  readRetryAfterMs,
  retriableStatus,
} from '../../src/transport/retry.js';

describe('the back-off', () => {
  test.each([
    [1, 500],
    [2, 1_000],
    [3, 2_000],
    [4, 4_000],
    [5, 8_000],
    [6, 8_000],
    [60, 8_000],
  ])('after attempt %i is anywhere between nothing and %i ms', (attempt, most) => {
    vi.spyOn(Math, 'random').mockReturnValueOnce(0).mockReturnValueOnce(0.5).mockReturnValueOnce(1);
    expect([backOffMs(attempt), backOffMs(attempt), backOffMs(attempt)]).toEqual([0, most / 2, most]);
  });

  test('is in whole milliseconds', () => {
    vi.spyOn(Math, 'random').mockReturnValue(1 / 3);
    expect(backOffMs(1)).toBe(167);
  });
});

describe('a status', () => {
  test('429 lets every request be sent again: it was refused before anything was done', () => {
    expect(retriableStatus(429)).toBe('any');
  });

  test.each([408, 500, 502, 503, 504, 520, 521, 522, 523, 524, 525, 526])(
    '%i lets reads be sent again',
    (status) => {
      expect(retriableStatus(status)).toBe('get');
    },
  );

  test.each([
    400, 401, 403, 404, 405, 407, 409, 413, 422, 425, 428, 430, 499, 501, 505, 511, 519, 527, 599, 999,
  ])('%i is final', (status) => {
    expect(retriableStatus(status)).toBe('never');
  });
});

describe('Retry-After', () => {
  const date = 'Sun, 06 Nov 1994 08:49:37 GMT';

  test.each([
    ['0', 0],
    ['1', 1_000],
    ['007', 7_000],
    ['120', 120_000],
    ['99999999', 99_999_999_000],
    ['9'.repeat(400), Number.MAX_SAFE_INTEGER],
  ])('%s is that many seconds', (value, ms) => {
    expect(readRetryAfterMs(value, null)).toBe(ms);
  });

  test.each([
    '',
    ' ',
    '-5',
    '+5',
    '1.5',
    '1e3',
    '0x10',
    '1, 2',
    '1 s',
    's 1',
    'abc',
    '١',
    'tomorrow',
    '1994-11-06T08:49:37Z',
    'Nov, 06 Nov 1994 08:49:37 GMT',
    'Sun, 6 Nov 1994 08:49:37 GMT',
    'Sun, 06 Nov 94 08:49:37 GMT',
    'Sun, 06 NOV 1994 08:49:37 GMT',
    'Sun, 06 No 1994 08:49:37 GMT',
    'Sun, 06 Nov 1994 8:49:37 GMT',
    'Sun, 06 Nov 1994 08:9:37 GMT',
    'Sun, 06 Nov 1994 08:49:7 GMT',
    'Sun, 06 Nov 1994 08:49:37 +0000',
    'Sun, 06 Nov 1994 08:49:37 GMT, again',
    '(Sun, 06 Nov 1994 08:49:37 GMT',
    'Sunday, 06-Nov-94 08:49:37 GMT',
    'Sun Nov  6 08:49:37 1994',
    'Sun, 06 Nov 1994 25:49:37 GMT',
    'Sun, 06 Foo 1994 08:49:37 GMT',
  ])('"%s" is neither whole seconds nor an HTTP date, and is ignored', (value) => {
    expect(readRetryAfterMs(value, date)).toBeUndefined();
  });

  test('that is missing asks for nothing', () => {
    expect(readRetryAfterMs(null, date)).toBeUndefined();
  });

  test("as a date counts from the response's own Date", () => {
    expect(readRetryAfterMs('Sun, 06 Nov 1994 08:49:39 GMT', date)).toBe(2_000);
    expect(readRetryAfterMs('Mon, 07 Nov 1994 08:49:37 GMT', date)).toBe(86_400_000);
  });

  test.each([null, 'abc', '1994-11-06T08:49:37Z', `${date}, again`, `(${date}`])(
    'as a date counts from now where the Date of the response is %s',
    (given) => {
      vi.spyOn(Date, 'now').mockReturnValue(784_111_777_000); // the timestamp of RFC 9110's own example
      expect(readRetryAfterMs('Sun, 06 Nov 1994 08:49:40 GMT', given)).toBe(3_000);
    },
  );

  test('as a date in the past asks for no wait', () => {
    expect(readRetryAfterMs(date, 'Sun, 06 Nov 1994 08:49:38 GMT')).toBe(0);
    expect(readRetryAfterMs(date, date)).toBe(0);
  });

  test('is waited for up to 30 seconds', () => {
    expect(longestRetryAfterMs).toBe(30_000);
  });
});
