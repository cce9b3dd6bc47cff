import { once } from 'node:events';
import { createServer, type Server } from 'node:net';

/** Returns the usual port of a program if it is free, else any free one. */
export async function chooseProgramPort(usual = 3000): Promise<number> {
  // A port may be taken on one address and free on another, and nobody knows which the program wants.
  for (const host of ['127.0.0.1', '::1', '0.0.0.0', '::'])
    if (await isTaken(usual, host)) return listenBriefly(0, '127.0.0.1');
  return usual;
}

const isTaken = (port: number, host: string): Promise<boolean> =>
  // Any other code means that the host is no address of this machine, such as ::1 without IPv6.
  listenBriefly(port, host).then(
    () => false,
    (error) => error.code === 'EADDRINUSE',
  );

/** Returns a port that nothing listens on. */
export const freePort = (): Promise<number> => listenBriefly(0, '127.0.0.1');

async function listenBriefly(port: number, host: string): Promise<number> {
  const server = createServer();
  try {
    return await listenOn(server, port, host);
  } finally {
    await new Promise((resolve) => server.close(resolve));
  }
}

/** Starts a server, and resolves to its port: any free one if `port` is 0. */
export async function listenOn(server: Server, port: number, host: string): Promise<number> {
  await once(server.listen(port, host), 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
