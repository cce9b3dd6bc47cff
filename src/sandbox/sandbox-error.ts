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
