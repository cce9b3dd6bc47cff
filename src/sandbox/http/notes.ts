import type { ErrorKind, UnspecifiedChoices } from '../service/unspecified.js';
import type { LoggedRequest } from './log.js';

/** What is learnt about a request on its way, for the log and for `x-sandbox-unspecified`. */
export class RequestNotes {
  key: LoggedRequest['key'] = 'missing';
  readonly unspecified = new Set<keyof UnspecifiedChoices>();
  readonly warnings: string[] = [];
  body: string | undefined;
  responseBody: string | undefined;

  /** The response depends on these choices. */
  mark(...names: (keyof UnspecifiedChoices)[]): void {
    for (const name of names) this.unspecified.add(name);
  }
}

/** The request is refused. Becomes the response of its kind. */
export class Refusal extends Error {
  readonly kind: ErrorKind;
  readonly headers: Record<string, string>;

  constructor(kind: ErrorKind, message: string, headers: Record<string, string> = {}) {
    super(message);
    this.kind = kind;
    this.headers = headers;
  }
}

/** The variables of a request to the documented API. */
export interface ApiEnv {
  Variables: { notes: RequestNotes };
}
