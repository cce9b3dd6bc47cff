import { randomBytes } from 'node:crypto';
import type { SignatureScheme } from '../webhooks/index.js';
import { readScheme } from '../webhooks/scheme.js';
import { readKey } from '../webhooks/secret.js';

/** A delivery, ready to be sent. */
export interface Outgoing {
  headers: Record<string, string>;
  body: string;
  /** Headers that are sent once more, after those of the same name. */
  repeated?: Record<string, string>;
}

/** The result of sending a delivery once: a response, or why there is none. */
export interface Sent {
  status?: number | undefined;
  headers?: Record<string, string> | undefined;
  /** The beginning of the body. */
  body?: string | undefined;
  error?: string | undefined;
  /** The system's code, such as `ECONNREFUSED`, or `timeout`. */
  code?: string | undefined;
}

/** The receiver of deliveries: a URL, or a Fetch-style route handler itself, which needs no port. */
export type WebhookTarget = string | ((request: Request) => Response | Promise<Response>);

/** Returns characters that nobody can guess. */
export const randomText = (): string => randomBytes(10).toString('hex');

/** Returns a secret that nobody knows, in the form that a scheme reads. */
export const newSecret = ({ secretEncoding }: Partial<SignatureScheme>): string =>
  secretEncoding === 'hex' ? randomText() : `whsec_${randomText()}`;

/** Returns the problem of a secret that is no key for a scheme; `undefined` if it is a valid one. */
export function secretProblem(secret: string, scheme: Partial<SignatureScheme>): string | undefined {
  const { secretEncoding = 'utf8' } = scheme;
  try {
    readKey(secret, readScheme(scheme));
    return undefined;
  } catch {
    return secretEncoding === 'utf8'
      ? 'must be the secret itself: without quotes, not its prefix alone, not the string of a missing value.'
      : `must be ${secretEncoding}, as secretEncoding of the signature scheme says.`;
  }
}

/** Returns JSON on one line with a space after each `:` and `,`, as Python's `json.dumps` writes it. */
export function writeSpaced(content: object): string {
  return JSON.stringify(content, null, 1)
    .replaceAll(/,\n\s*/g, ', ')
    .replaceAll(/\n\s*/g, '');
}

/** Returns JSON on one line that no encoder writes: only some of its colons and commas are followed by a space. */
export function writeUnevenlySpaced(content: object): string {
  const lines = JSON.stringify(content, null, 1).split(/\n\s*/);
  return lines
    .map((line, index) =>
      index % 2 === 1 ? line.replace(/^("(?:\\.|[^"\\])*"): /, '$1:') : line.replace(/,$/, ', '),
    )
    .join('');
}
