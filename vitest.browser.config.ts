import base from './vitest.config.js';

/** Tests in a real Chromium. */
export default {
  ...base,
  test: {
    ...base.test,
    include: ['test/browser/**/*.test.ts'],
    exclude: ['node_modules/**'],
  },
};
