import type { Agent, ClientRequest } from 'node:http';
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
  /** The idle connections, each with the time since which it is idle. */
  const idleSince = new Map<Duplex, number>();
  class KeptConnections extends http.Agent {
    override keepSocketAlive(socket: Duplex) {
      idleSince.set(socket, performance.now());
      return super.keepSocketAlive(socket);
    }
    override reuseSocket(socket: Duplex, request: ClientRequest) {
      idleSince.delete(socket);
      super.reuseSocket(socket, request);
    }
  }
  const agent = new KeptConnections({
    ...options,
    // If a connection that was used before breaks, Deno sends the request again, even a write.
    keepAlive: !process.versions.deno,
    timeout: longestIdleMs,
  });

  /**
   * Closes idle connections that are too old or ended, and returns true if there were any. The agent's own timer is late in
   * a busy process.
   */
  function hasUnusable(): boolean {
    const oldest = performance.now() - longestIdleMs;
    let found = false;
    for (const [socket, since] of idleSince) {
      const isAlive = socket.readable && socket.writable && !socket.destroyed;
      if (isAlive && since >= oldest) continue;
      if (socket.closed) idleSince.delete(socket);
      else found = true;
      socket.destroy();
    }
    return found;
  }

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
      hasUnusable() || (isWrite && idleSince.size > 0) ? waitUntilUsable() : undefined,
  };
}
