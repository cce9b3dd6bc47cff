import base from './vitest.config.js';

/** Tests in a real Chromium. */
export default {
  ...base,
  test: {
    ...base.test,
    include: ['test/browser/**/*.test.ts'],
    exclude: ['node_modules/**'],
    // On a busy machine a browser misses a moment now and then: a page that moves on after a second, say.
    retry: 1,
  },
};
