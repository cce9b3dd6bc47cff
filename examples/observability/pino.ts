/**
 * One line for each retry and each failure, and at the level `debug` for each answer.
 *
 *     new PaymentsClient({ hooks: pinoHooks(pino()) })
 */
import type { Hooks } from 'merchant-payments';
import type { Logger } from 'pino';

export function pinoHooks(logger: Logger): Hooks {
  const log = logger.child({ module: 'merchant-payments' });
  return {
    response: (facts) => log.debug(facts, `${facts.operation} answered ${facts.status}`),
    retry: ({ error, ...facts }) => log.warn({ ...facts, err: error }, `${facts.operation} is tried again`),
    // Errors of this package hold no key, header or body, so they can be logged whole.
    error: ({ error, ...facts }) => log.error({ ...facts, err: error }, `${facts.operation} failed`),
  };
}
