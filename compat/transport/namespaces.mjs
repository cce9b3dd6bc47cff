// Two network namespaces with a cable between them: a host can vanish from a connection that stands.
import { execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';

const addresses = ['10.213.0.1', '10.213.0.2'];

/** The reason why there are no namespaces here, or `undefined`. */
export function reasonToSkip() {
  const name = `merchant-payments-${process.pid}`;
  try {
    ip(`netns add ${name}`);
    ip(`netns del ${name}`);
    return undefined;
  } catch ({ code, stderr }) {
    return code === 'ENOENT' ? 'ip (iproute2) is not installed' : String(stderr ?? code).trim();
  }
}

/** Calls `use` with a way to run a program on each side, and the address of the other side. Leaves nothing behind. */
export async function withCable(use) {
  const names = ['client', 'server'].map((side) => `merchant-payments-${process.pid}-${side}`);
  const links = ['mp-client', 'mp-server'];
  const children = [];
  try {
    for (const name of names) ip(`netns add ${name}`);
    ip(`-n ${names[0]} link add ${links[0]} type veth peer name ${links[1]} netns ${names[1]}`);
    for (const [side, name] of names.entries()) {
      ip(`-n ${name} addr add ${addresses[side]}/24 dev ${links[side]}`);
      ip(`-n ${name} link set ${links[side]} up`);
      ip(`-n ${name} link set lo up`);
    }
    // The system gives up after seconds, not after a quarter of an hour.
    const settings = {
      tcp_retries2: 3,
      [`neigh/${links[0]}/retrans_time_ms`]: 100,
      [`neigh/${links[0]}/delay_first_probe_time`]: 1,
    };
    const writes = Object.entries(settings).map(
      ([name, value]) => `echo ${value} > /proc/sys/net/ipv4/${name}`,
    );
    execFileSync('ip', ['netns', 'exec', names[0], 'sh', '-ec', writes.join('\n')], { stdio: 'pipe' });
    await use({
      addresses,
      links,
      start(side, command, args) {
        const child = spawn('ip', ['netns', 'exec', names[side], command, ...args], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        children.push(child);
        return child;
      },
    });
  } finally {
    for (const child of children) {
      if (child.exitCode === null && child.kill('SIGKILL')) await once(child, 'close');
    }
    for (const name of names) execFileSync('ip', ['netns', 'del', name], { stdio: 'ignore' });
  }
}

function ip(words) {
  execFileSync('ip', words.split(' '), { stdio: 'pipe' });
}
