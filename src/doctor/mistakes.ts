import { Buffer } from 'node:buffer';
import { writeSpaced } from '../sending/delivery.js';
import { decodeRecoded, decodingOf } from '../webhooks/recoded.js';
import { isJsonObject, parseObject } from './json.js';

/** A mistake with a secret, which the doctor makes and `identify` undoes. */
interface SecretMistake {
  says: string;
  make(secret: string): string[];
  undo(secret: string): string | undefined;
  /** Fix for a receiver that makes the mistake. */
  remedy: string;
  /** Fix for a secret that was passed to `identify` with the mistake in it. */
  remedyHere: string;
}

const removePrefix = (secret: string) => /^[a-z]{2,10}_(?:(?:live|test)_)?(.+)$/i.exec(secret.trim())?.[1];

/** Returns the secret inside quotation marks; `undefined` if there are none. */
export const removeQuotes = (secret: string) => /^(["'`])(.+)\1$/.exec(secret.trim())?.[2];

export const secretMistakes: readonly SecretMistake[] = [
  {
    says: 'has white space around it',
    make: (secret) => [`${secret}\n`, `${secret}\r\n`, `${secret}\r`, `${secret} `, ` ${secret}`],
    undo: (secret) => secret.trim(),
    remedy: 'Remove it where it is read, or from the file or variable that holds it',
    remedyHere: 'remove it where it is read',
  },
  {
    says: 'has quotation marks around it',
    make: (secret) => [`"${secret}"`, `'${secret}'`],
    undo: removeQuotes,
    remedy: 'Remove them: Docker and some .env readers keep them',
    remedyHere: 'remove them where it is read',
  },
  {
    says: 'is used without its prefix',
    make: (secret) => [removePrefix(secret) ?? [], /^[a-z]{2,10}_(.+)$/i.exec(secret)?.[1] ?? []].flat(),
    undo: removePrefix,
    remedy: 'Pass the whole secret as it was given to you',
    remedyHere: 'pass what follows the underscore',
  },
];

/** Writes the text that a faulty receiver verifies instead of the body. */
export type Write = (event: object) => string;

/** Writers of an object as JavaScript, PHP, Python and Ruby (up to 3.3, and later) print it. */
export const printings: readonly Write[] = [
  () => '[object Object]',
  () => 'Array',
  (event) => writeSpaced(event).replaceAll('"', "'"),
  (event) => writeSpaced(event).replaceAll('": ', '"=>'),
  (event) => writeSpaced(event).replaceAll('": ', '" => '),
];

/** Writers of the same JSON: with and without spaces, indented, each with keys in order or sorted. */
export const encodings: readonly Write[] = [(event: object) => event, sortKeys].flatMap((order) => [
  (event) => JSON.stringify(order(event)),
  (event) => writeSpaced(order(event)),
  (event) => JSON.stringify(order(event), null, 2),
]);

function sortKeys(event: object): object {
  const sort = (_: string, value: unknown) =>
    isJsonObject(value) ? Object.fromEntries(Object.entries(value).sort()) : value;
  return JSON.parse(JSON.stringify(event), sort);
}

/** A value as given, or changed in one common way that the note names. */
type Variant<Value> = { value: Value; note?: string };

/** Returns the body as given, then the bodies that it may have been before an editor, a shell or a parser changed it. */
export function bodyVariants(body: Uint8Array): Variant<Uint8Array>[] {
  const text = Buffer.from(body).toString('utf8');
  const event = parseObject(text);
  const reencoded = 'The body is not what was signed: it was parsed and encoded again.';
  const variants: [string, string][] = [
    [
      text.replace(/\r?\n$/, ''),
      'The body ends in a newline that was not signed: an editor or `echo` added it.',
    ],
    [`${text}\n`, 'The body lacks a trailing newline that was signed: something trimmed it.'],
    [text.replaceAll('\r\n', '\n'), 'The line ends of the body were changed to CRLF.'],
    ...encodings.flatMap((encode): [string, string][] => (event ? [[encode(event), reencoded]] : [])),
  ];
  const changed = variants.filter(([value]) => value !== text);
  const capture = 'Capture a delivery byte for byte: `merchant-payments capture`.';
  const asBytes = changed.map(([value, note]) => ({ value: Buffer.from(value), note: `${note} ${capture}` }));
  const recoded = decodeRecoded(body);
  const asSent = recoded ? [{ value: recoded.sent, note: decodingOf[recoded.form] }] : [];
  return [{ value: body }, ...asSent, ...asBytes];
}

/** Returns the secret as given, then without the characters that are often copied along with it. */
export function secretVariants(secret: string): Variant<string>[] {
  const undone = secretMistakes.map(({ undo, says, remedyHere }) => ({
    value: undo(secret) ?? secret,
    note: `The secret ${says}: ${remedyHere}.`,
  }));
  return [{ value: secret }, ...undone.filter(({ value }) => value !== secret)];
}
