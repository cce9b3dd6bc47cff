import { type DeliveryFacts, type HooksOf, type WebhookHookFacts, webhookHooks } from '../webhooks/hooks.js';

/** What each hook of an inbox receives: never a secret, a header or a body. */
export interface InboxHookFacts extends Pick<WebhookHookFacts, 'received' | 'duplicate' | 'refused'> {
  /** Your function is called. */
  started: AttemptFacts;
  /** A delivery is done. */
  done: AttemptFacts & { durationMs: number };
  /** An attempt failed; the next one follows after `delayMs`, or none if that is `null`. */
  failed: AttemptFacts & { durationMs: number; error: unknown; delayMs: number | null };
  /** There are no more attempts until somebody calls `retry()`. */
  parked: AttemptFacts & { lastError: string };
}

/** The attempt that a hook is called for. */
export interface AttemptFacts extends DeliveryFacts {
  /** Counted from 1. */
  attempt: number;
}

/** Functions called with what happens to deliveries, for logs and metrics. Errors that they throw are ignored. */
export type InboxHooks = HooksOf<InboxHookFacts>;

export const inboxHooks = { ...webhookHooks, started: undefined, parked: undefined };
