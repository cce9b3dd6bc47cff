import base from '../../../vitest.config.js';

/** The contract of the inbox on PostgreSQL: setup.ts puts it there. */
export default {
  ...base,
  test: {
    ...base.test,
    include: ['test/inbox/contract/*.test.ts'],
    exclude: [],
    setupFiles: ['test/helpers/patience.ts', 'compat/inbox/contract/setup.ts'],
  },
};
