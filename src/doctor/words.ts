import type { Outgoing, Sent } from '../sending/delivery.js';
import type { Order } from './signed.js';

/** Text of a stranger on one line: what controls, hides or reorders text is made visible. */
const visible = (text: string): string =>
  text.replaceAll(/[\p{C}\u2028\u2029]/gu, (one) =>
    /[\n\r\t]/.test(one) ? JSON.stringify(one).slice(1, -1) : `\\u{${one.codePointAt(0)?.toString(16)}}`,
  );

export function responseText({ status, body = '', error = 'no response' }: Sent, secret: string): string {
  if (status === undefined) return error;
  const text = body.replaceAll(secret, '<secret>');
  return `${status} ${text === '' ? 'and an empty body' : `"${visible(text.slice(0, 200))}"${text.length > 200 ? '…' : ''}`}`;
}

/** Status and words of a response, sign by sign. */
export type Words = readonly string[];

/** Status and words of a response, without what it only repeats of the delivery. */
export function wordsOf({ status, body = '' }: Sent, { headers }: Outgoing, { id, amount }: Order): Words {
  const echoes = [id, ...Object.values(headers).filter((value) => value.length > 8), `9${amount}`, amount];
  const inCents = (text: string) => String(Math.round(Number(text) * 100));
  const text = [...echoes, inCents(`9${amount}`), inCents(amount)].reduce(
    (text, echo) => text.replaceAll(echo, '#'),
    `${status} ${body
      .replaceAll(/\s*([^\p{L}\p{N}]|$)\s*/gu, '$1')
      .replaceAll(/,"note":"[^"]*"/g, '')
      // "1 event", "2 events".
      .replaceAll(/(\d \p{L}+?)s\b/gu, '$1')}`,
  );
  return text.match(/[\p{L}\p{N}_+/-]+(?:\.\d+)*|[^\p{L}\p{N}_+/-]/gu) ?? [];
}

const isNumber = (token = ''): boolean => /[\d#]/.test(token);
const letters = (token = ''): string => token.replaceAll(/[\d#.]/g, '');
export const shape = (words: Words): string =>
  words.map((token, at) => (at > 0 && isNumber(token) ? '#' : token)).join('');

type Texts = readonly Words[];

/** Whether a response says the same as one of `others`, but for ids, counts and times. */
export function saysTheSame(own: Words, others: Texts, valid: Texts, forged: Texts): boolean {
  const alike = (texts: Texts) => texts.filter(({ length }) => length === own.length);
  const [toValid, toForged] = [alike(valid), alike(forged)];
  const isNoise = (at: number, one = '', other = '') => {
    const inValid = toValid.map((said) => said[at] ?? '');
    const inForged = toForged.map((said) => said[at] ?? '');
    // What no two have in common is an id.
    if (isId(inValid) && isId(inForged)) return true;
    const areNumbers =
      isNumber(one) && isNumber(other) && (letters(one) === letters(other) || one.length > 12);
    // What differs among forgeries alone may be a status.
    const isShared = inForged.some((said) => inValid.includes(said));
    return areNumbers && (varies(inValid) || (varies(inForged) && isShared));
  };
  return alike(others).some((other) =>
    own.every((token, at) => token === other[at] || isNoise(at, token, other[at])),
  );
}

export const varies = (said: readonly string[]): boolean => new Set(said).size > 1;
const isId = (said: readonly string[]): boolean =>
  said.length > 2 && new Set(said.map(letters)).size === said.length;
