import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { connect, temporaryFile } from './inboxes.js';
import { runInbox } from './program.js';

/** What it does with an inbox, on both stores, is in contract/. */
describe('merchant-payments inbox', () => {
  it.each<[string, string[], string]>([
    ['neither file nor URL', [], 'Pass the file of the inbox or the URL of its database'],
    ['another action', ['inbox.sqlite', 'delete'], '"delete" is not an action. Known are stats, show'],
    ['show without a key', ['inbox.sqlite', 'show'], 'Pass the key of a delivery'],
    ['retry without a key', ['inbox.sqlite', 'retry'], 'Pass the key of a delivery'],
    ['retry of one and of all', ['inbox.sqlite', 'retry', 'k', '--parked'], '"k" is not expected here.'],
    ['two keys', ['inbox.sqlite', 'show', 'a', 'b'], '"b" is not expected here.'],
    ['a flag of another action', ['inbox.sqlite', 'show', 'k', '--force'], 'show takes no --force.'],
    ['a value of another action', ['inbox.sqlite', 'purge', '--tolerance=2h'], 'purge takes no --tolerance.'],
    ['a flag without its action', ['inbox.sqlite', '--identify'], 'stats takes no --identify.'],
    ['purge without a time', ['inbox.sqlite', 'purge'], 'Pass --older-than'],
    ['purge with another time', ['inbox.sqlite', 'purge', '--older-than', '90'], 'Pass --older-than'],
  ])('%s is an error of usage, and no file is made', (_form, args, message) => {
    const { status, stderr } = runInbox(args);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
    expect(existsSync('inbox.sqlite')).toBe(false);
  });

  it.each(['mysql://u:topsecret@h/db', ' MySQL://u:topsecret@h/db', 'prisma+postgres://u:topsecret@h/db'])(
    'at %j is an error of usage that does not quote the password',
    (place) => {
      const { status, stdout, stderr } = runInbox([place]);
      expect(status).toBe(2);
      expect(stdout + stderr).not.toContain('topsecret');
      expect(stderr).toMatch(/^An inbox is in a file or at a postgres: URL, not at a \S+: URL\./);
    },
  );

  it('of a file that does not exist is an error, and it is not made', () => {
    const file = temporaryFile();
    expect(runInbox([file])).toEqual({
      status: 1,
      stdout: '',
      stderr: `${JSON.stringify(file)} does not exist.\n`,
    });
    expect(existsSync(file)).toBe(false);
  });

  it('of a file that holds no inbox is an error, and it is left as it was', () => {
    const text = temporaryFile();
    writeFileSync(text, 'no database'.repeat(200));
    expect(runInbox([text])).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('file is not a database'),
    });
    const other = temporaryFile();
    const database = connect(other);
    database.exec('CREATE TABLE orders (id TEXT)');
    database.close();
    const before = readFileSync(other);
    expect(runInbox([other])).toMatchObject({ status: 1, stderr: expect.stringContaining('holds no inbox') });
    expect(readFileSync(other)).toEqual(before);
  });
});
