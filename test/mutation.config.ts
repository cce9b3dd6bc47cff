import { defineConfig } from 'vitest/config';

/** The tests that Stryker runs against each mutant: without the fuzz, which would notice some by chance. */
export default defineConfig({
  test: {
    include: [
      'test/webhooks.test.ts',
      'test/webhook-cases.test.ts',
      'test/webhook-{hmac,accept,hooks}.test.ts',
      'test/webhook-*handler.test.ts',
    ],
    restoreMocks: true,
  },
});
