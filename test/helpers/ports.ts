import { once } from 'node:events';
import { createServer } from 'node:net';

/** A port on which nobody listens: it takes a privilege, and its protocol died out. Closed ports are soon another's. */
export const deadPort = 2;

/**
 * A port for a program that has to be told one. It lies below those that the system gives out, so that no other test
 * gets it before the program does.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = 20_000 + Math.floor(Math.random() * 10_000);
    const server = createServer();
    const taken = new Promise<boolean>((resolve) => {
      server.once('error', () => resolve(true)).listen(port, '127.0.0.1', () => resolve(false));
    });
    if (await taken) continue;
    server.close();
    await once(server, 'close');
    return port;
  }
}
