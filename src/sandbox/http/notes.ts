import type { Choices, ErrorKind } from '../service/choices.js';
import { excerpt } from '../service/event.js';
import type { LoggedRequest } from './log.js';

type Silence = LoggedRequest['unspecified'][number];

/** Collects facts about a request, for the log and for `x-sandbox-unspecified`. */
export class RequestNotes {
  readonly unspecified = new Set<Silence>();
  readonly warnings: string[] = [];
  body: string | undefined;
  responseBody: string | undefined;

  constructor(
    readonly choices: Choices,
    readonly key: LoggedRequest['key'],
  ) {}

  /** The response depends on these choices. */
  mark(...names: Silence[]): void {
    for (const name of names) this.unspecified.add(name);
  }

  /** Does the same for a limit that a value breaks: `problem` is why it is refused, `false` if it is accepted. */
  limit(name: Silence, problem: string | false): void {
    this.mark(name);
    if (problem !== false) throw new Refusal('validation', problem);
  }

  /** As the log keeps them. */
  get kept() {
    return {
      key: this.key,
      unspecified: [...this.unspecified],
      warnings: this.warnings,
      body: excerpt(this.body),
      responseBody: excerpt(this.responseBody),
    };
  }
}

/** Refuses the request with the response for its kind. */
export class Refusal extends Error {
  constructor(
    readonly kind: ErrorKind,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }
}

export interface ApiEnv {
  Variables: { notes: RequestNotes };
}
