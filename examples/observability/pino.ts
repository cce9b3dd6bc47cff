/**
 * One log line for each retry, failure and webhook; at the level `debug`, one for each response and each call.
 *
 *     new PaymentsClient({ hooks: pinoHooks(pino()) })
 *     webhooks.nodeHandler({ secret, on, hooks: pinoWebhookHooks(pino()), onError: () => {} })
 *     openInbox({ file, secret, on, hooks: pinoInboxHooks(pino()), onError: () => {} })
 */
import type { Hooks } from 'merchant-payments';
import type { InboxHooks } from 'merchant-payments/inbox';
import type { WebhookHooks } from 'merchant-payments/webhooks';
import type { Logger } from 'pino';

export function pinoHooks(logger: Logger): Hooks {
  const log = logger.child({ module: 'merchant-payments' });
  return {
    response: (facts) => {
      log.debug(facts, `${facts.operation} ${String(facts.status)}`);
    },
    retry: ({ error, ...facts }) => {
      log.warn({ ...facts, err: error }, `${facts.operation} will be retried`);
    },
    // Errors of this package hold no key; an ApiError quotes up to 200 characters of the response's body.
    error: ({ error, ...facts }) => {
      log.error({ ...facts, err: error }, `${facts.operation} failed`);
    },
    end: (facts) => {
      log.debug(facts, `${facts.operation} ${facts.outcome}`);
    },
  };
}

/** `failed` has the error of your own function, so `onError` need not print it as well. */
export function pinoWebhookHooks(logger: Logger): WebhookHooks {
  const log = logger.child({ module: 'merchant-payments/webhooks' });
  return {
    received: (facts) => {
      log.debug(facts, `${facts.key} received`);
    },
    duplicate: (facts) => {
      log.info(facts, `${facts.key} came again`);
    },
    refused: (facts) => {
      log.warn(facts, `webhook refused: ${facts.code}`);
    },
    done: (facts) => {
      log.info(facts, `${facts.key} done`);
    },
    failed: ({ error, ...facts }) => {
      log.error({ ...facts, err: error }, `${facts.key} failed`);
    },
  };
}

/** Leaves one line for each delivery that somebody must look at: after its last failure, `parked` has it. */
export function pinoInboxHooks(logger: Logger): InboxHooks {
  const log = logger.child({ module: 'merchant-payments/inbox' });
  return {
    ...pinoWebhookHooks(logger),
    failed: ({ error, ...facts }) => {
      if (facts.delayMs !== null) log.warn({ ...facts, err: error }, `${facts.key} is tried again`);
    },
    parked: (facts) => {
      log.error(facts, `${facts.key} parked: ${facts.lastError}`);
    },
  };
}
