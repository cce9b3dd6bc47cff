import type { Context, Env, Hono } from 'hono';

/** Paths, the methods of each, and what handles them. */
export type RouteTable<E extends Env> = Readonly<
  Record<string, Readonly<Record<string, (c: Context<E>) => Response | Promise<Response>>>>
>;

/** Serves a table. `otherMethod` responds to a method that a path does not have; `allow` lists those that it has. */
export function serveTable<E extends Env>(
  routes: Hono<E>,
  table: RouteTable<E>,
  otherMethod: (c: Context<E>, allow: string) => Response,
): void {
  for (const [path, methods] of Object.entries(table)) {
    for (const [method, handle] of Object.entries(methods)) routes.on(method, path, handle);
    routes.all(path, (c) => otherMethod(c, Object.keys(methods).join(', ')));
  }
}
