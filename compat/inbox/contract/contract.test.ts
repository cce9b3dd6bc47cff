// test/inbox/contract, which `npm test` runs on node:sqlite, on PostgreSQL (on each Node, and behind PgBouncer), and on other drivers.
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Server, startPgBouncer, startPostgres } from '../../lib/servers.js';

const root = fileURLToPath(new URL('../../..', import.meta.url));
let postgres: Server;
let bouncer: Server;

before(async () => {
  postgres = await startPostgres();
  bouncer = await startPgBouncer(postgres.url);
});
after(async () => {
  await bouncer?.stop();
  await postgres?.stop();
});

// They wait more than they compute.
describe('an inbox on PostgreSQL keeps the contract', { concurrency: 2 }, () => {
  for (const [node, way] of [
    ['node-20', 'directly'],
    ['node-24', 'behind PgBouncer'],
    ['node-22', 'directly'],
    ['node-26', 'behind PgBouncer'],
  ] as const) {
    test(`${node}, ${way}`, async () => {
      await keepsContract(node, { INBOX_DATABASE_URL: (way === 'directly' ? postgres : bouncer).url });
    });
  }
});

describe('an inbox in a database of another SQLite driver keeps the contract', () => {
  for (const [node, driver] of [
    ['node-20', 'better-sqlite3'],
    ['node-24', 'libsql'],
  ] as const) {
    test(`${driver} on ${node}`, () => keepsContract(node, { INBOX_DRIVER: driver }));
  }
});

async function keepsContract(node: string, env: Record<string, string>): Promise<void> {
  const child = spawn(
    `compat/node_modules/${node}/bin/node`,
    ['node_modules/vitest/vitest.mjs', 'run', '--config', 'compat/inbox/contract/vitest.config.ts'],
    { cwd: root, env: { ...process.env, NODE_TEST_CONTEXT: undefined, ...env } },
  );
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk) => (output += chunk));
  const [code] = await once(child, 'close');
  assert.equal(code, 0, output);
  assert.match(output, /\d\d passed/);
}
