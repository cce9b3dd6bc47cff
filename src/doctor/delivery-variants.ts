import { Buffer } from 'node:buffer';
import { spaced } from './spaced.js';

/** A value as given, or changed in one way that people meet; then the note says so. */
export interface Variant<Value> {
  value: Value;
  note: string | undefined;
}

const capture = 'Capture a delivery byte for byte: `merchant-payments capture`.';

/** The body as given, then what it may have been before an editor, a shell or a parser touched it. */
export function* bodyVariants(body: Uint8Array): Generator<Variant<Uint8Array>> {
  yield { value: body, note: undefined };
  const text = Buffer.from(body).toString('utf8');
  const changed = (text: string, note: string) => ({ value: Buffer.from(text), note });
  const ending = /\r?\n$/.exec(text);
  if (ending) {
    yield changed(
      text.slice(0, ending.index),
      `The body ends in a line feed that was not signed: an editor or \`echo\` added it. ${capture}`,
    );
  } else {
    yield changed(
      `${text}\n`,
      `The body lacks a final line feed that was signed: something trimmed it. ${capture}`,
    );
  }
  if (text.includes('\r\n'))
    yield changed(
      text.replaceAll('\r\n', '\n'),
      `The line ends of the body were changed to CRLF. ${capture}`,
    );
  const parsed = parse(text);
  if (parsed === undefined) return;
  const reencoded = `The body is not what was signed: it was parsed and encoded again. ${capture}`;
  for (const written of [JSON.stringify(parsed), spaced(parsed)]) {
    if (written !== text) yield changed(written, reencoded);
  }
}

/** The secret as given, then without what is often copied along with it. */
export function* secretVariants(secret: string): Generator<Variant<string>> {
  yield { value: secret, note: undefined };
  const trimmed = secret.trim();
  if (trimmed !== secret)
    yield { value: trimmed, note: 'The secret has white space around it: remove it where it is read.' };
  const quoted = /^(["'`])(.+)\1$/.exec(trimmed);
  if (quoted?.[2] !== undefined)
    yield {
      value: quoted[2],
      note: 'The secret has quotation marks around it: remove them where it is read.',
    };
  const prefixed = /^[a-z]{2,10}_(?:(?:live|test)_)?(.+)$/i.exec(trimmed);
  if (prefixed?.[1] !== undefined)
    yield {
      value: prefixed[1],
      note: 'The key is the secret without its prefix: pass what follows the underscore.',
    };
}

function parse(text: string): object | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    return typeof parsed === 'object' && parsed !== null ? parsed : undefined;
  } catch {
    return undefined;
  }
}
