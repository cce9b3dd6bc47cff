import { Buffer } from 'node:buffer';
import { parseObject } from './json.js';
import { spaced } from './spaced.js';

/** A value as given, or changed in one common way, which the note names. */
export interface Variant<Value> {
  value: Value;
  note?: string;
}

/** The body as given, then what it may have been before an editor, a shell or a parser touched it. */
export function* bodyVariants(body: Uint8Array): Generator<Variant<Uint8Array>> {
  yield { value: body };
  const text = Buffer.from(body).toString('utf8');
  const lines = text.replaceAll('\r\n', '\n');
  const event = parseObject(text);
  const reencoded = 'The body is not what was signed: it was parsed and encoded again.';
  const variants: readonly [string | undefined, string][] = [
    /\n$/.test(text)
      ? [
          text.replace(/\r?\n$/, ''),
          'The body ends in a newline that was not signed: an editor or `echo` added it.',
        ]
      : [`${text}\n`, 'The body lacks a trailing newline that was signed: something trimmed it.'],
    [lines, 'The line ends of the body were changed to CRLF.'],
    [event && JSON.stringify(event), reencoded],
    [event && spaced(event), reencoded],
  ];
  for (const [value, note] of variants)
    if (value !== undefined && value !== text)
      yield {
        value: Buffer.from(value),
        note: `${note} Capture a delivery byte for byte: \`merchant-payments capture\`.`,
      };
}

/** The secret as given, then without what is often copied along with it. */
export function* secretVariants(secret: string): Generator<Variant<string>> {
  yield { value: secret };
  const trimmed = secret.trim();
  const variants: readonly [string | undefined, string][] = [
    [trimmed, 'The secret has white space around it: remove it where it is read.'],
    [
      /^(["'`])(.+)\1$/.exec(trimmed)?.[2],
      'The secret has quotation marks around it: remove them where it is read.',
    ],
    [
      /^[a-z]{2,10}_(?:(?:live|test)_)?(.+)$/i.exec(trimmed)?.[1],
      'The key is the secret without its prefix: pass what follows the underscore.',
    ],
  ];
  for (const [value, note] of variants) if (value !== undefined && value !== secret) yield { value, note };
}
