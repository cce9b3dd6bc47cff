import * as z from 'zod/mini';
import { isObject } from '../input/object.js';

/** A field that may be absent; an absent one is read as `null`. */
export function orNull<T>(schema: z.ZodMiniType<T>) {
  return z._default(z.nullable(schema), null);
}

/** Takes a `null` in a listed field of an object for an absent field, as some services write it. */
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
