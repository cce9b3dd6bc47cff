// A way to the database that breaks: in the middle of a statement, before the server has it or before the client hears of it; at any
// moment; without notice, as a NAT forgets connections; or by leading to another server, as a name does in a failover.
import { connect, createServer, type Socket } from 'node:net';
import { freePort } from '../../../test/helpers/ports.js';

/** Before the server has the statement, after it has it, or without notice: nothing more is passed on. */
type Way = 'before' | 'after' | 'silently';

export interface Cutter {
  url: string;
  /** Breaks the connection of the next COMMIT of a transaction in which a text was sent; with `atOnce`, of the next statement with it. */
  arm(way: Way, text: string, atOnce?: boolean): void;
  /** Cuts all connections that are open. */
  cutAll(): void;
  /** Passes nothing more on in the connections that are open, and keeps them open. */
  forget(): void;
  /** New connections lead to another server. */
  leadTo(url: string): void;
  /** The number of commits that it has cut. */
  cuts(): number;
  stop(): void;
}

export async function startCutter(url: string): Promise<Cutter> {
  let { hostname, port } = new URL(url);
  const own = await freePort();
  const open = new Set<Socket>();
  let forgotten = new Set<Socket>();
  let armed: { way: Way; text: string; atOnce: boolean } | undefined;
  let cuts = 0;
  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    const cut = () => {
      for (const socket of [near, far]) socket.destroy();
    };
    let isCutting = false;
    let transaction = '';
    for (const socket of [near, far]) {
      open.add(socket);
      socket.on('error', cut);
      socket.on('close', () => {
        open.delete(socket);
        cut();
      });
    }
    near.on('data', (chunk) => {
      const sent = chunk.toString('latin1');
      transaction += sent;
      if (forgotten.has(near)) return;
      const isCommit = transaction.includes('COMMIT');
      const searched = armed?.atOnce ? sent : isCommit ? transaction : '';
      const way = armed && searched.includes(armed.text) ? armed.way : undefined;
      if (isCommit) transaction = '';
      if (way) {
        armed = undefined;
        if (way === 'silently') return void forgotten.add(near);
        isCutting = true;
        cuts++;
        if (way === 'before') return cut();
        // The server has it all, and nobody hears of it.
        setTimeout(cut, 50);
      }
      far.write(chunk);
    });
    far.on('data', (chunk) => isCutting || forgotten.has(near) || near.write(chunk));
  }).listen(own, '127.0.0.1');
  const through = new URL(url);
  through.port = `${own}`;
  return {
    url: through.href,
    arm: (way, text, atOnce = false) => {
      armed = { way, text, atOnce };
    },
    cutAll: () => {
      for (const socket of open) socket.destroy();
    },
    forget: () => {
      forgotten = new Set(open);
    },
    leadTo: (other) => {
      ({ hostname, port } = new URL(other));
    },
    cuts: () => cuts,
    stop: () => {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
