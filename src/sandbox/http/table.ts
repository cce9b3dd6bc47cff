import type { Context, Env, Hono } from 'hono';

/** A method and path, such as `GET /products`, and what handles it. */
export type Route<E extends Env> = readonly [
  route: string,
  handle: (c: Context<E>) => Response | Promise<Response>,
];

/** Serves a table. `otherMethod` responds to a method that a path does not have; `allow` lists those that it has. */
export function serveTable<E extends Env>(
  routes: Hono<E>,
  table: readonly Route<E>[],
  otherMethod: (c: Context<E>, allow: string) => Response,
): void {
  const methods = new Map<string, string[]>();
  for (const [route, handle] of table) {
    const [method = '', path = ''] = route.split(' ');
    routes.on(method, path, handle);
    methods.set(path, [...(methods.get(path) ?? []), method]);
  }
  for (const [path, names] of methods) routes.all(path, (c) => otherMethod(c, names.join(', ')));
}
