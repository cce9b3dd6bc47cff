import { createHash } from 'node:crypto';
import type { Sent } from '../sending/delivery.js';
import { type Facts, type Finding, type FindingCode, findingOf } from './findings.js';
import { parseObject } from './json.js';
import { calledWrongly, codePattern, consumedBody, noSecret, parsedObject } from './phrases.js';

/** Messages of `verify()`, of handlers and of platforms that have only one explanation if the delivery is valid. */
const messages: readonly [words: RegExp, code: FindingCode, facts?: Facts][] = [
  [codePattern('timestamp_too_old'), 'wrong_clock', { skew: 'ahead' }],
  [codePattern('timestamp_in_future'), 'wrong_clock', { skew: 'behind' }],
  [codePattern('missing_signature', 'missing_timestamp', 'duplicate_header'), 'header_lost'],
  [codePattern('invalid_secret'), 'no_secret'],
  [codePattern('invalid_body'), 'parsed_object'],
  [
    calledWrongly,
    'handler_failed',
    { fails: 'calls webhooks.verify() wrongly', likely: 'Its response says what to pass.' },
  ],
  [noSecret, 'no_secret'],
  [parsedObject, 'parsed_object'],
  [
    consumedBody,
    'body_consumed',
    { consumed: 'reads the body twice, or something in front of it has already read it' },
  ],
];

/** True if a response states why it rejects a delivery. */
export const saysCause = ({ body = '' }: Sent): boolean => messages.some(([words]) => words.test(body));

/** Returns the reason why a handler rejects a valid delivery, if its response states it. */
export function findStatedFault(
  { body = '' }: Sent,
  sentBody: string,
  framework: string | undefined,
  words = String(parseObject(body)?.error),
): Finding | undefined {
  const [, ...stated] = messages.find(([message]) => message.test(body)) ?? [
    undefined,
    ...faultOfBytes(body, sentBody),
  ];
  const [code, facts] = stated;
  return code && findingOf(code, framework, { evidence: compareBodies(body, sentBody), words, ...facts });
}

/** Returns the finding that the reported size and hash of the body show, if they differ from those that were sent. */
function faultOfBytes(body: string, sentBody: string): [code?: FindingCode, facts?: Facts] {
  const received = reportedBody(body);
  if (!received || received.sha256 === sha256(sentBody)) return [];
  if (received.bytes === 0) return ['body_consumed'];
  const compact = Buffer.byteLength(JSON.stringify(JSON.parse(sentBody)));
  return ['re_encodes', received.bytes === compact ? {} : { changed: 'changed on the way' }];
}

/** Returns the size and hash that `webhooks.handler()` and `verify()` report of the body that they received. */
export function reportedBody(response: string): { bytes: number; sha256: string } | undefined {
  const { bytes, sha256: sha } = parseObject(response) ?? {};
  const isSaid = typeof sha === 'string' && typeof bytes === 'number' && Number.isInteger(bytes);
  return isSaid ? { bytes, sha256: sha.toLowerCase() } : undefined;
}

/** Compares the bytes that were sent with those that the handler reports, in one sentence; empty if it reports none. */
export function compareBodies(response: string, sentBody: string): string {
  const received = reportedBody(response);
  if (!received) return '';
  return received.sha256 === sha256(sentBody)
    ? 'Your handler verified exactly the bytes that were sent.'
    : `We sent ${Buffer.byteLength(sentBody)} bytes, your handler verified ${received.bytes}.`;
}

const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
