/** What is mutated, the tests that have to notice, and the share of mutants that they have to kill, in per cent. */
export const parts = {
  transport: {
    mutate: ['src/transport/{retry,envelope,failures}.ts'],
    tests: ['test/transport/*.test.ts'],
    least: {
      'src/transport/retry.ts': 95,
      'src/transport/envelope.ts': 95,
      'src/transport/failures.ts': 90,
    },
  },
  webhooks: {
    mutate: ['src/webhooks/**/*.ts', '!src/webhooks/index.ts'],
    tests: [
      'test/webhooks.test.ts',
      'test/webhook-{cases,hmac,accept,hooks,messages}.test.ts',
      'test/webhook-*handler.test.ts',
    ],
    least: { 'src/webhooks/': 95 },
  },
  // node:sqlite: Node 22.13 or later. What of the inbox is left out, and why: docs/decisions/mutants.md.
  inbox: {
    mutate: ['src/inbox/{duration,options,params,redact}.ts'],
    tests: ['test/inbox/{duration,options,params,redact,receiving,working,commit,leases}.test.ts'],
    least: { 'src/inbox/': 90 },
  },
};

/** The part that Stryker and its tests are at: `scripts/mutation.mjs` sets it. */
export const part = parts[process.env.MUTATION_PART ?? 'webhooks'];
