import { once } from 'node:events';
import { createServer } from 'node:net';

/** The port for a program that `exec` runs: its own `PORT`, else 3000 if it is free, else a free one. */
export async function shopPort(): Promise<string> {
  const { PORT } = process.env;
  if (PORT) return PORT;
  // A port may be taken on one address and free on another, and nobody knows which the program wants.
  for (const host of ['127.0.0.1', '::1', '0.0.0.0', '::'])
    if ((await listenOn(3000, host)) === undefined) return String(await listenOn(0, '127.0.0.1'));
  return '3000';
}

/** Listens for an instant, and returns the port; `undefined` if it is taken. */
async function listenOn(port: number, host: string): Promise<number | undefined> {
  const server = createServer().listen(port, host);
  try {
    await once(server, 'listening');
    const address = server.address();
    return typeof address === 'object' && address !== null ? address.port : undefined;
  } catch (error) {
    const taken = error instanceof Error && 'code' in error && error.code === 'EADDRINUSE';
    return taken ? undefined : port; // Not an address of this machine, such as ::1 without IPv6.
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}
