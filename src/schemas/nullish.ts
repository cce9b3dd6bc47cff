import * as z from 'zod/mini';
import { isObject } from '../input/object.js';

/** Returns the schema of a field that may be absent or `null`, and is `null` then. */
export function orNull<T>(schema: z.ZodMiniType<T>) {
  return z._default(z.nullable(schema), null);
}

/** Returns the schema of an object whose known fields may be `null`, and are absent then. */
export function nullIsAbsent<T>(schema: z.ZodMiniObject & z.ZodMiniType<T>): z.ZodMiniType<T> {
  return z.pipe(
    z.transform((value: unknown) =>
      isObject(value)
        ? Object.fromEntries(
            Object.entries(value).filter(([name, field]) => field !== null || !(name in schema.shape)),
          )
        : value,
    ),
    schema,
  );
}
