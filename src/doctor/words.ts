import type { Outgoing, Sent } from '../sending/delivery.js';
import type { Order } from './signed.js';

/** Returns a stranger's text on one line, with characters that control, hide or reorder text made visible. */
const escapeControls = (text: string): string =>
  text.replaceAll(/[\p{C}\u2028\u2029]/gu, (one) =>
    /[\n\r\t]/.test(one) ? JSON.stringify(one).slice(1, -1) : `\\u{${one.codePointAt(0)?.toString(16)}}`,
  );

/** Returns the status and the beginning of the body, or the error. */
export function responseText(
  { status, body = '', error = 'no response' }: Sent,
  secret: string,
  length = 200,
): string {
  if (status === undefined) return error;
  const text = body.replaceAll(secret, '<secret>');
  const more = text.length > length ? '…' : '';
  return `${status} ${text === '' ? 'and an empty body' : `"${escapeControls(text.slice(0, length))}"${more}`}`;
}

/** Returns status and words of a response, without text that repeats the delivery: the order's id and amount, a header. */
export function wordsOf({ status, body = '' }: Sent, { headers }: Outgoing, { id, amount }: Order): string {
  const toCents = (text: string) => String(Math.round(Number(text) * 100));
  const amounts = [`9${amount}`, amount];
  const echoes = [id, ...Object.values(headers).filter((value) => value.length > 8), ...amounts];
  const text = body.replaceAll(/,\s*"note":\s*"[^"]*"/g, '').replaceAll(/\s*([^\p{L}\p{N}]|$)\s*/gu, '$1');
  return [...echoes, ...amounts.map(toCents)].reduce(
    (words, echo) => words.replaceAll(echo, '#'),
    `${status} ${text}`,
  );
}

/** Returns words with each number as `#`, so that "1 event" and "2 events" are equal. */
export const shapeOf = (words: string): string =>
  words.slice(0, 3) +
  words
    .slice(3)
    .replaceAll(/(\d \p{L}+?)s\b/gu, '$1')
    .replaceAll(/[\p{L}\p{N}_+/#.-]+/gu, (word) => (/[\d#]/.test(word) ? '#' : word));
