import { ConfigurationError } from '../errors.js';

/**
 * Throws if `Object.prototype` has an enumerable field, which every object then seems to have. This is the only check of this
 * kind: every function that sends, verifies, stores or matches begins with it, so that nothing is sent or believed then.
 */
export function checkPrototype(
  refuse: (message: string) => Error = (message) => new ConfigurationError(message),
): void {
  for (const name in Object.prototype)
    throw refuse(
      `Object.prototype has the field ${JSON.stringify(name.slice(0, 60))}, which every object seems to have then: nothing was ` +
        'sent or believed. Find the code that set it, and restart the process.',
    );
}
