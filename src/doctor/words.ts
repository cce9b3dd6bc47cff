import type { Outgoing, Sent } from '../sending/delivery.js';
import type { Order } from './probes.js';

/** Text of a stranger on one line: what controls, hides or reorders text is made visible. */
const visible = (text: string): string =>
  text.replaceAll(/[\p{C}\u2028\u2029]/gu, (one) =>
    /[\n\r\t]/.test(one) ? JSON.stringify(one).slice(1, -1) : `\\u{${one.codePointAt(0)?.toString(16)}}`,
  );

/** The beginning of a response: its status and its body, without the secret. */
export function responseText({ status, body = '', error = 'no response' }: Sent, secret: string): string {
  if (status === undefined) return error;
  const text = body.replaceAll(secret, '<secret>');
  return `${status} ${text === '' ? 'and an empty body' : `"${visible(text.slice(0, 200))}"${text.length > 200 ? '…' : ''}`}`;
}

/** Status and words of a response, without what it only repeats of the delivery. */
export function wordsOf({ status, body = '' }: Sent, { headers }: Outgoing, { id, amount }: Order): string {
  const echoes = [id, ...Object.values(headers).filter((value) => value.length > 8), `9${amount}`, amount];
  const inCents = (text: string) => String(Math.round(Number(text) * 100));
  return [...echoes, inCents(`9${amount}`), inCents(amount)].reduce(
    (text, echo) => text.replaceAll(echo, '#'),
    `${status} ${body.replaceAll(/\s+/g, '').replaceAll(/,"note":"[^"]*"/g, '')}`,
  );
}

const tokens = (text: string): string[] => text.match(/[\p{L}\p{N}_-]+|[^\p{L}\p{N}_-]/gu) ?? [];
export const shape = (text: string): string =>
  tokens(text)
    .map((token) => (/\d/.test(token) ? '#' : token))
    .join('');

/** Whether a response says the same as others. A number that differs among those is an id, a count or a time. */
export function saysTheSame(text: string, others: readonly string[]): boolean {
  const alike = others.filter((other) => shape(other) === shape(text)).map(tokens);
  return (
    alike.length > 0 &&
    tokens(text).every((token, at) => {
      const known = new Set(alike.map((other) => other[at]));
      return known.has(token) || known.size > 1;
    })
  );
}
