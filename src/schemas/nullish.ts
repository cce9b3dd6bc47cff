import * as z from 'zod/mini';
import { isObject } from '../input/object.js';

/** Makes a field that may be absent or `null`, which is then read as `null`. */
export function orNull<T>(schema: z.ZodMiniType<T>) {
  return z._default(z.nullable(schema), null);
}

/** Makes an object whose listed fields may be `null`, which is then the same as absent. */
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
