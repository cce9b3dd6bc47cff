import { WebhookConfigError, WebhookVerificationError } from '../errors.js';
import type { HeaderReader } from './headers.js';
import { invalidOptions, isThenable } from './own-options.js';
import type { SignedMessage } from './scheme.js';

/** Asks the caller's own verifier about each signature. Only `true` counts: a promise would always be truthy. */
export function isAccepted(
  verify: (message: SignedMessage) => unknown,
  signatures: readonly string[],
  timestamp: string,
  body: Uint8Array,
  readHeader: HeaderReader,
): boolean {
  const header = (name: string) => readHeader(name.toLowerCase()) ?? null;
  return signatures.some((signature) => ask(verify, { body, timestamp, signature, header }));
}

function ask(verify: (message: SignedMessage) => unknown, message: SignedMessage): boolean {
  try {
    const result = verify(message);
    if (!isThenable(result)) return result === true;
    // Nobody waits for it, and its rejection must not end the process.
    Promise.resolve(result).catch(() => {});
  } catch (error) {
    if (error instanceof WebhookVerificationError || error instanceof WebhookConfigError) throw error;
    throw invalidOptions('scheme.verify threw. Let it return false for an invalid signature.');
  }
  throw invalidOptions('scheme.verify returned a promise. Verify synchronously: node:crypto has verify().');
}
