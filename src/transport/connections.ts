import type { Agent } from 'node:http';
import type https from 'node:https';
import type { Duplex } from 'node:stream';

/** Servers and gateways commonly close a connection that was idle for five seconds. */
const longestIdleMs = 4_000;

/** The connections of a client: how many may be open, and which may still be used. */
export interface Connections {
  agent: Agent;
  /** Resolves once no idle connection is left that is closed, as far as this process can know. */
  closeUnusable(isWrite: boolean): Promise<void> | undefined;
}

/** Keeps connections open. `http` is `node:https` for a service behind TLS. */
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
    // Deno sends a request again, a write too, if a connection breaks that was used before.
    keepAlive: !process.versions.deno,
    scheduling: 'lifo',
    timeout: longestIdleMs,
  });

  /** Closes idle connections that are too old or ended. The timer of the agent is late in a process that was busy. */
  function hasUnusable(): boolean {
    const oldest = performance.now() - longestIdleMs;
    const unusable = idle().filter((socket) => {
      const isAlive = socket.readable && socket.writable && !socket.destroyed;
      return !isAlive || (idleSince.get(socket) ?? 0) < oldest;
    });
    for (const socket of unusable) socket.destroy();
    return unusable.length > 0;
  }

  const idle = () => Object.values(agent.freeSockets).flatMap((sockets) => sockets ?? []);

  /** A closed connection leaves the agent in a later turn of the event loop. */
  async function untilUsable(): Promise<void> {
    const { scheduler } = process.getBuiltinModule('node:timers/promises');
    for (let turns = 0; turns < 10; turns++) {
      // The first call may come back within the same turn.
      await scheduler.yield();
      await scheduler.yield();
      if (!hasUnusable()) return;
    }
  }

  return {
    agent,
    // That the server has closed a connection is read within one turn. A write must know; a read is sent again.
    closeUnusable: (isWrite) => (hasUnusable() || (isWrite && idle().length > 0) ? untilUsable() : undefined),
  };
}
