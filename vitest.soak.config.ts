import base from './vitest.config.js';

/** Tens of thousands of calls to a service that fails at times: `npm run soak`. */
export default {
  ...base,
  test: { ...base.test, include: ['test/soak/*.test.ts'], exclude: ['node_modules/**'] },
};
