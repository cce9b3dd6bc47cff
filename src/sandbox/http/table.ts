import type { Context, Env, Hono } from 'hono';

/** What each method and path, such as `GET /products`, does and returns. */
export type Table<E extends Env = Env> = Readonly<
  Record<string, (c: Context<E>) => object | Promise<object>>
>;

/** Serves a table. `otherMethod` responds to a method that a path does not have; `allow` lists those that it has. */
export function serveTable<E extends Env>(
  routes: Hono<E>,
  table: Table<E>,
  respond: (c: Context<E>, result: object) => Response,
  otherMethod: (c: Context<E>, allow: string) => Response,
): void {
  const methods = new Map<string, string[]>();
  for (const [route, run] of Object.entries(table)) {
    const [method = '', path = ''] = route.split(' ');
    routes.on(method, path, async (c) => respond(c, await run(c)));
    methods.set(path, [...(methods.get(path) ?? []), method]);
  }
  for (const [path, names] of methods) routes.all(path, (c) => otherMethod(c, names.join(', ')));
}
