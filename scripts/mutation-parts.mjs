/** The mutated files, the tests that have to notice, and the share of mutants that they have to kill, in per cent. */
export const parts = {
  transport: {
    mutate: ['src/transport/{retry,envelope,to-error,failure}.ts'],
    tests: ['test/transport/*.test.ts'],
    least: {
      'src/transport/retry.ts': 95,
      'src/transport/envelope.ts': 95,
      'src/transport/to-error.ts': 90,
      'src/transport/failure.ts': 90,
    },
  },
  webhooks: {
    mutate: ['src/webhooks/**/*.ts', '!src/webhooks/index.ts'],
    tests: [
      'test/webhooks/verify.test.ts',
      'test/webhooks/{cases,hmac,accept,hooks,messages}.test.ts',
      'test/webhooks/*handler.test.ts',
    ],
    least: { 'src/webhooks/': 95 },
  },
  // node:sqlite: Node 22.13 or later. What of the inbox is left out, and why: docs/decisions/mutants.md.
  inbox: {
    mutate: ['src/inbox/*.ts', '!src/inbox/index.ts'],
    tests: [
      'test/inbox/!(processes|command|without-sqlite).test.ts',
      'test/inbox/contract/!(command).test.ts',
    ],
    // Its tests wait for timers and locks, two seconds at most. A change that makes one wait for ever fails that test;
    // Stryker's own limit is far above, so that only an endless loop meets it.
    testTimeout: 6000,
    stryker: { concurrency: 3, timeoutMS: 40_000 },
    least: { 'src/inbox/': 95 },
  },
};

/** The part that Stryker and its tests are at: `scripts/mutation.mjs` sets it. */
export const part = parts[process.env.MUTATION_PART ?? 'webhooks'];
