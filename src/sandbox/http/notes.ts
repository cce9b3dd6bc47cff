import type { Choices } from '../service/choices.js';
import type { ErrorKind } from '../service/unspecified.js';
import type { LoggedRequest } from './log.js';

/** The name of something that the specification leaves open. */
type Silence = LoggedRequest['unspecified'][number];

/** Collects facts about a request, for the log and for `x-sandbox-unspecified`. */
export class RequestNotes {
  readonly choices: Choices;
  key: LoggedRequest['key'] = 'missing';
  readonly unspecified = new Set<Silence>();
  readonly warnings: string[] = [];
  body: string | undefined;
  responseBody: string | undefined;

  constructor(choices: Choices) {
    this.choices = choices;
  }

  /** The response depends on these choices. */
  mark(...names: Silence[]): void {
    for (const name of names) this.unspecified.add(name);
  }

  /** Does the same for a limit that a value breaks: `problem` is why it is refused, `false` if it is accepted. */
  limit(name: Silence, problem: string | false): void {
    this.mark(name);
    if (problem !== false) throw new Refusal('validation', problem);
  }
}

/** Refuses the request with the response for its kind. */
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
