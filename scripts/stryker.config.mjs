import { part } from './mutation-parts.mjs';

export default {
  testRunner: 'vitest',
  vitest: { configFile: 'scripts/mutation.vitest.config.ts', related: false },
  plugins: ['@stryker-mutator/vitest-runner'],
  mutate: part.mutate,
  ignorePatterns: ['bench', 'compat', 'dist', 'docs', 'site', 'reports'],
  coverageAnalysis: 'perTest',
  ignoreStatic: true,
  disableTypeChecks: false,
  concurrency: 1,
  timeoutMS: 10_000,
  reporters: ['progress-append-only', 'clear-text', 'json'],
  clearTextReporter: { allowColor: false, reportTests: false, skipFull: true },
  jsonReporter: { fileName: `reports/mutation-${process.env.MUTATION_PART ?? 'webhooks'}.json` },
  ...part.stryker,
  thresholds: { high: 98, low: 95, break: null }, // scripts/mutation.mjs holds each part's own
};
