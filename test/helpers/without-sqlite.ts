import { basename } from 'node:path';
import { beforeEach } from 'vitest';

/** Those of test/inbox that need no database. */
const needNone = ['duration', 'options-types', 'postgres-results', 'without-sqlite'];

/** Skips the tests of the inbox where there is no `node:sqlite`: on Node 20, compat/inbox runs them on other drivers. */
beforeEach(({ task, skip }) => {
  const { filepath } = task.file;
  const isInbox = /[\\/]test[\\/](?:inbox[\\/]|cli[\\/]inbox)/.test(filepath);
  if (isInbox && !needNone.includes(basename(filepath, '.test.ts'))) skip('node:sqlite is missing');
});
