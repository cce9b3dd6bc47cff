import type { Agent } from 'node:http';
import type https from 'node:https';
import type { Duplex } from 'node:stream';

/** The longest idle time of a connection that is used again: servers and gateways commonly close one after five seconds. */
const longestIdleMs = 4_000;

/** The connections of a client. */
export interface Connections {
  agent: Agent;
  /** Closes unusable idle connections, and resolves once none is left that this process can know to be closed. */
  closeUnusable(isWrite: boolean): Promise<void> | undefined;
}

/** Returns connections that are kept open for further requests. `http` is `node:https` for a service behind TLS. */
export function keepConnections(
  http: typeof https,
  options: { maxSockets: number; proxyEnv?: object },
): Connections {
  const idleSince = new WeakMap<Duplex, number>();
  class KeptConnections extends http.Agent {
    override keepSocketAlive(socket: Duplex) {
      idleSince.set(socket, performance.now());
      return super.keepSocketAlive(socket);
    }
  }
  const agent = new KeptConnections({
    ...options,
    // If a connection that was used before breaks, Deno sends the request again, even a write.
    keepAlive: !process.versions.deno,
    scheduling: 'lifo',
    timeout: longestIdleMs,
  });

  /**
   * Closes idle connections that are too old or ended, and returns true if there were any. The agent's own timer is late in
   * a busy process.
   */
  function hasUnusable(): boolean {
    const oldest = performance.now() - longestIdleMs;
    const unusable = idleSockets().filter((socket) => {
      const isAlive = socket.readable && socket.writable && !socket.destroyed;
      return !isAlive || (idleSince.get(socket) ?? 0) < oldest;
    });
    for (const socket of unusable) socket.destroy();
    return unusable.length > 0;
  }

  const idleSockets = () => Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);

  /** Waits until no idle connection is unusable. A closed connection leaves the agent only in a later turn of the event loop. */
  async function waitUntilUsable(): Promise<void> {
    const { scheduler } = process.getBuiltinModule('node:timers/promises');
    for (let turns = 0; turns < 10; turns++) {
      // The first yield() may return within the same turn.
      await scheduler.yield();
      await scheduler.yield();
      if (!hasUnusable()) return;
    }
  }

  return {
    agent,
    // Node needs one turn to notice that the server closed a connection. Only a write waits for it; a read can be sent again.
    closeUnusable: (isWrite) =>
      hasUnusable() || (isWrite && idleSockets().length > 0) ? waitUntilUsable() : undefined,
  };
}
