import type * as z from 'zod/mini';
import { PaymentsError } from '../errors.js';

/** The sandbox cannot do what was asked: an invalid option, an unknown id, a checkout that can no longer be paid. */
export class SandboxError extends PaymentsError {
  /** @internal */
  static override readonly name: string = 'SandboxError';

  /** @internal */
  constructor(code: SandboxErrorCode, message: string) {
    super(message, { code });
  }
}

/** An unchecked value in a message. */
export const shown = (value: unknown): string =>
  typeof value === 'string' ? JSON.stringify(value.slice(0, 100)) : String(value);

/** An unchecked value as a schema reads it, or the first thing that is wrong with it. `what` begins the message. */
export function checked<T>(schema: z.ZodMiniType<T>, value: unknown, what: string): T {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw new SandboxError('invalid_options', `${what}: ${problemOf(result.error)}`);
}

/** The first thing that is wrong, after the name of the field. */
export function problemOf({ issues }: { issues: readonly z.core.$ZodIssue[] }): string {
  const [first] = issues;
  const path = first?.path.map(String).join('.');
  return path ? `${path}: ${first?.message}` : `${first?.message}`;
}

/** Stable texts for programs. */
export type SandboxErrorCode =
  | 'invalid_options'
  | 'unknown_id'
  | 'not_payable'
  | 'insufficient_balance'
  | 'no_webhook'
  | 'wait_timeout'
  | 'port_taken'
  | 'closed';
