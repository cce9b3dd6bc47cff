import { defineConfig } from 'vitest/config';

/** The tests that Stryker runs against each mutant: those that state facts, without the random ones. */
export default defineConfig({
  test: {
    include: ['test/webhooks.test.ts', 'test/webhook-cases.test.ts', 'test/webhook-*handler.test.ts'],
    restoreMocks: true,
  },
});
