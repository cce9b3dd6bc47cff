import config from '../../../vitest.config.js';

const base = config({ command: 'serve', mode: 'test' });

/** The contract of the inbox on PostgreSQL, or on the SQLite driver of INBOX_DRIVER. */
export default {
  ...base,
  test: {
    ...base.test,
    include: ['test/inbox/contract/*.test.ts'],
    exclude: [],
    setupFiles: [
      'test/helpers/patience.ts',
      `compat/inbox/contract/${process.env.INBOX_DRIVER ? 'sqlite-drivers' : 'setup'}.ts`,
    ],
  },
};
