// A server in a network namespace of its own, whose host vanishes when it has read a POST: what it sends no longer finds a
// way, so nothing is acknowledged, and its link goes down. Prints each method that it reads.
import { execFileSync } from 'node:child_process';
import { writeSync } from 'node:fs';
import { createServer } from 'node:http';
import { balance } from './service.mjs';

const [address, port, peer, link] = process.argv.slice(2);
const ip = (...words) => execFileSync('ip', words);

createServer((incoming, response) => {
  incoming.resume().on('end', () => {
    writeSync(1, `${incoming.method}\n`);
    if (incoming.method !== 'GET') return ip('link', 'set', link, 'down');
    response.end(balance, () => setTimeout(() => ip('route', 'add', 'blackhole', peer), 300));
  });
}).listen(Number(port), address, () => writeSync(1, 'listening\n'));
