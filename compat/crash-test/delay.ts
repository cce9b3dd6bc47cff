// A database in another room: every packet takes some milliseconds, so that a kill meets each step of a transaction.
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../test/helpers/ports.js';

/** Passes a server on with a delay both ways. Returns the URL with the new port. */
export async function delayPackets(url: string, delayMs: number): Promise<{ url: string; stop(): void }> {
  const { hostname, port } = new URL(url);
  const own = await freePort();
  const open = new Set<Socket>();
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      open.add(from);
      from.setNoDelay(true);
      from.on('data', (chunk) => setTimeout(() => to.write(chunk), delayMs));
      from.on('close', () => {
        open.delete(from);
        setTimeout(() => to.destroy(), delayMs);
      });
      from.on('error', () => undefined); // its close follows
    }
  }).listen(own, '127.0.0.1');
  const through = new URL(url);
  through.port = String(own);
  return {
    url: through.href,
    stop: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
