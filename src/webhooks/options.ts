import * as z from 'zod/mini';
import { WebhookConfigError } from '../errors.js';
import { checkPrototype } from '../input/pollution.js';
import { readInput } from '../input/read.js';

/** Returns the schema of an object with these options and no others, such as `example`. */
export function optionsObject<const Shape extends z.core.$ZodLooseShape>(example: string, shape: Shape) {
  const error = `takes one options object, such as ${example}.`;
  return z.strictObject(shape, { error: ({ code }) => (code === 'invalid_type' ? error : undefined) });
}

/** Reads the options of a function, or throws a `WebhookConfigError` that begins with `what`. */
export function readWebhookOptions<T>(what: string, schema: z.ZodMiniType<T>, given: unknown): T {
  checkPrototype(invalidOptions);
  return readInput(schema, given, (issues) => {
    const problems = issues.map(({ path, message }) =>
      path === '' ? message : `${quotablePath(path)} ${message}`,
    );
    return invalidOptions(`${what}${issues[0]?.path === '' ? '' : ':'} ${problems.join(' ')}`);
  });
}

/** Returns a path that is safe to quote: any other text could be a part of a delivery that was passed as a name. */
const quotablePath = (path: string) => (/^[\w$.-]{1,40}$/.test(path) ? path : 'a name');

export function invalidOptions(message: string): WebhookConfigError {
  return new WebhookConfigError(message, 'invalid_options');
}
