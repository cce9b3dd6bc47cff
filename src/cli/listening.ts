import { once } from 'node:events';
import type { Server } from 'node:net';

/** Has a server listen, and returns its port: with 0, any free one. */
export async function listenOn(server: Server, port: number, host: string): Promise<number> {
  await once(server.listen(port, host), 'listening');
  const address = server.address();
  return typeof address === 'object' && address !== null ? address.port : port;
}
