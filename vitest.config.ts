import { availableParallelism } from 'node:os';
import { fileURLToPath } from 'node:url';
import { defineConfig } from 'vitest/config';
import TotalsReporter from './scripts/totals-reporter.js';

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const source = [
  { find: /^merchant-payments$/, replacement: path('src/index.ts') },
  { find: /^merchant-payments\/(\w+)$/, replacement: path('src/$1/index.ts') },
];
const built = [
  { find: /^merchant-payments$/, replacement: path('dist/index.js') },
  { find: /^merchant-payments\/(\w+)$/, replacement: path('dist/$1.js') },
];

/** Node 20 has no `node:sqlite`: there the inbox says so, and compat/inbox tests it on PostgreSQL and better-sqlite3. */
const withoutSqlite = process.getBuiltinModule('node:sqlite') ? [] : ['test/helpers/without-sqlite.ts'];

/** `vitest run` takes the first suite, `vitest run --mode dist` another one. */
const suites = {
  /** The source, as `npm test` runs it. */
  test: {
    include: ['test/**/*.test.ts', 'examples/testing/*.test.ts'],
    exclude: ['test/browser/**', 'test/soak/**'],
  },
  /** The client, faults and promises, against the package as it is published. */
  dist: {
    include: ['test/client/**/*.test.ts', 'test/faults/**/*.test.ts', 'test/promises/**/*.test.ts'],
    exclude: ['test/promises/regular-expressions.test.ts'], // reads the source
    env: { TEST_DIST: '1' },
  },
  /** Pages, in a real Chromium. */
  browser: { include: ['test/browser/**/*.test.ts'] },
  /** Tens of thousands of calls to a service that fails at times. */
  soak: { include: ['test/soak/*.test.ts'] },
};

export default defineConfig(({ mode }) => {
  // Tools that only read the configuration use Vite's own modes.
  const wanted = mode === 'development' || mode === 'production' ? 'test' : mode;
  const suite = Object.entries(suites).find(([name]) => name === wanted)?.[1];
  if (!suite) throw new Error(`There is no suite "${mode}". There are ${Object.keys(suites).join(', ')}.`);
  return {
    resolve: { alias: mode === 'dist' ? built : source },
    test: {
      ...suite,
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
  };
});
