import * as z from 'zod/mini';
import { type Issue, PaymentsError, type SandboxErrorCode } from '../errors.js';
import { issuesInWords, mustBe, oneOfThese, readInput } from '../input/read.js';

/** An error of the sandbox, such as an invalid option, an unknown id or a checkout that can no longer be paid. */
export class SandboxError extends PaymentsError {
  /** @internal */
  static override readonly name: string = 'SandboxError';
  /** Reason for the error. */
  declare readonly code: SandboxErrorCode;

  /** @internal */
  constructor(code: SandboxErrorCode, message: string) {
    super(message, { code });
  }
}

/** An error about invalid options. The command and the control routes name the options in their own way. */
export class InvalidOptions extends SandboxError {
  static override readonly name = 'SandboxError';
  // The field is private, so that printing the error does not repeat its message.
  readonly #issues: readonly Issue[];

  constructor(what: string, issues: readonly Issue[]) {
    super('invalid_options', `${what}: ${issuesInWords(issues, 'options')}`);
    this.#issues = issues;
  }

  /** Returns the issues of an InvalidOptions. `instanceof` compares names, which all SandboxErrors share, so it cannot tell. */
  static issuesOf(error: unknown): readonly Issue[] | undefined {
    return typeof error === 'object' && error !== null && #issues in error ? error.#issues : undefined;
  }
}

/** Reads the options of a function, or throws an `InvalidOptions` that begins with `what`. */
export function readOptions<T>(what: string, schema: z.ZodMiniType<T>, given: unknown): T {
  return readInput(schema, given, (issues) => new InvalidOptions(what, issues));
}

/** Throws an `InvalidOptions` if an option has a problem. */
export function refuse(what: string, path: string, message: string | undefined): void {
  if (message !== undefined) throw new InvalidOptions(what, [{ path, message }]);
}

/** Returns the schema of a name in a record. */
export function nameIn<Value extends object>(record: Value) {
  return z.custom<keyof Value & string>(
    (value) => typeof value === 'string' && Object.hasOwn(record, value),
    {
      error: mustBe(oneOfThese(Object.keys(record))),
    },
  );
}
