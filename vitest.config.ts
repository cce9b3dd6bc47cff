import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import TotalsReporter from './scripts/totals-reporter.js';

const source = (path: string) => fileURLToPath(new URL(`./src/${path}`, import.meta.url));

/** Node 20 has no `node:sqlite`: there the inbox says so, and compat/inbox tests it on PostgreSQL and better-sqlite3. */
const withoutSqlite = process.getBuiltinModule('node:sqlite') ? [] : ['test/helpers/without-sqlite.ts'];

export default defineConfig({
  resolve: {
    alias: [
      { find: /^merchant-payments$/, replacement: source('index.ts') },
      { find: /^merchant-payments\/webhooks$/, replacement: source('webhooks/index.ts') },
      { find: /^merchant-payments\/inbox$/, replacement: source('inbox/index.ts') },
      { find: /^merchant-payments\/matching$/, replacement: source('matching/index.ts') },
      { find: /^merchant-payments\/sandbox$/, replacement: source('sandbox/index.ts') },
    ],
  },
  test: {
    include: ['test/**/*.test.ts', 'examples/testing/*.test.ts'],
    exclude: ['test/browser/**', 'test/soak/**', 'node_modules/**'],
    reporters: ['default', new TotalsReporter()],
    // msw looks for localStorage, of which Node 26 says in every worker that it has none.
    execArgv: ['--disable-warning=ExperimentalWarning'],
    // Tests on sockets wait more than they compute.
    maxWorkers: Math.max(3, availableParallelism() - 1),
    setupFiles: ['test/helpers/patience.ts', ...withoutSqlite],
    expect: { poll: { timeout: 15_000 } },
    // Child processes on a busy machine; no test waits for it.
    testTimeout: 60_000,
    hookTimeout: 60_000,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
  },
});
