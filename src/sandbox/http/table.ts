import type { Context, Env, Hono } from 'hono';
import type { ErrorKind } from '../service/choices.js';

export const operations = [
  'GET /v1/products',
  'POST /v1/products',
  'PATCH /v1/products/:id',
  'POST /v1/checkouts',
  'GET /v1/checkouts/:id',
  'GET /v1/balance',
] as const;

/** Patterns of the operations. An id may hold any character of a path segment, but `:id` and `*` are placeholders left unfilled. */
const patterns = operations.map((operation) => {
  const [method, path = ''] = operation.split(' ');
  return { method, path: new RegExp(`^${path.replace(':id', '(?!:id$)[^/?#*]+')}$`) };
});

/** True if an operation has this method and path. An `undefined` one is not compared. */
export function isOperation(method: string | undefined, path: string | undefined): boolean {
  const sameMethod = patterns.filter((one) => method === undefined || method === one.method);
  return sameMethod.some((one) => path === undefined || one.path.test(path));
}

export const nothingHere = 'There is nothing at this path.';

/** Functions by method and path, such as `GET /products`, each of which does the work and returns the result. */
export type Table<E extends Env = Env> = Readonly<
  Record<string, (c: Context<E>) => object | Promise<object>>
>;

/** A refusal of a request. `code` decides the status of the response. */
export class Refusal extends Error {
  constructor(
    readonly code: ErrorKind,
    message: string,
    readonly headers: Record<string, string> = {},
  ) {
    super(message);
  }
}

/** Serves a table. Refuses every other method of its paths, and every other path under `rest`. */
export function serveTable<E extends Env>(
  routes: Hono<E>,
  table: Table<E>,
  respond: (c: Context<E>, result: object) => Response,
  rest: string,
): void {
  const methods = new Map<string, string[]>();
  for (const [route, run] of Object.entries(table)) {
    const [method = '', path = ''] = route.split(' ');
    routes.on(method, path, async (c) => respond(c, await run(c)));
    methods.set(path, [...(methods.get(path) ?? []), method]);
  }
  for (const [path, names] of methods)
    routes.all(path, ({ req }) => {
      const allow = names.join(', ');
      const problem = `${req.method} is not a method of this path. It has ${allow}.`;
      throw new Refusal('wrong_method', problem, { allow });
    });
  routes.all(rest, () => {
    throw new Refusal('unknown_path', nothingHere);
  });
}
