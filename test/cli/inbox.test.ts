import { chmodSync, existsSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { callCommand } from '../helpers/command.js';
import { isWindows } from '../helpers/systems.js';
import { connect, openSqlite, orderPaid, temporaryFile } from '../inbox/inboxes.js';
import { runInbox } from '../inbox/program.js';

/** The tests of the command on both stores are in contract/. */
describe('merchant-payments inbox', () => {
  it.each<[string, string[], string]>([
    ['neither file nor URL', [], 'Pass the file of the inbox or the URL of its database'],
    ['another action', ['inbox.sqlite', 'shw'], '"shw" is not an action. Did you mean show?'],
    ['show without a key', ['inbox.sqlite', 'show'], 'Pass the key of a delivery'],
    ['retry without a key', ['inbox.sqlite', 'retry'], 'Pass the key of a delivery'],
    [
      'retry of one and of all',
      ['inbox.sqlite', 'retry', 'k', '--parked'],
      'Pass a key, --parked or --pending',
    ],
    [
      'retry of two kinds',
      ['inbox.sqlite', 'retry', '--pending', '--parked'],
      'Pass a key, --parked or --pending',
    ],
    ['a list of two kinds', ['inbox.sqlite', 'list', '--pending', '--parked'], 'Pass --pending or --parked'],
    ['two keys', ['inbox.sqlite', 'show', 'a', 'b'], '"b" is not expected here.'],
    ['a flag of another action', ['inbox.sqlite', 'show', 'k', '--force'], '--force is not a flag.'],
    ['a value of another action', ['inbox.sqlite', 'purge', '--tolerance=2h'], '--tolerance is not a flag.'],
    ['a flag without its action', ['inbox.sqlite', '--identify'], '--identify is not a flag.'],
    ['a flag with --print-schema', ['--print-schema', '--parked'], '--parked is not a flag.'],
    [
      'a scheme to list by',
      ['inbox.sqlite', 'refused', '--scheme={}'],
      'refused takes --scheme and --url only with',
    ],
    [
      'an id without --discard',
      ['inbox.sqlite', 'refused', '17'],
      'takes an id, --older-than and --all only with',
    ],
    [
      'an id that is none',
      ['inbox.sqlite', 'refused', '--discard', 'x'],
      '"x" is no id of a refused delivery.',
    ],
    ['an id and all', ['inbox.sqlite', 'refused', '--discard', '1', '--all'], 'one of them'],
    ['accept without a file', ['inbox.sqlite', 'accept'], 'Pass the file of a delivery'],
    ['copy without a place', ['inbox.sqlite', 'copy'], 'Pass --to with the file or URL of the other inbox.'],
    ['copy to itself', ['inbox.sqlite', 'copy', '--to', 'inbox.sqlite'], 'Both are the same inbox.'],
    ['a schema in a file', ['inbox.sqlite', '--schema', 'shop'], 'A file has no schema.'],
    ['force of all', ['inbox.sqlite', 'retry', '--parked', '--force'], '--force takes one running delivery'],
    ['purge without a time', ['inbox.sqlite', 'purge'], 'Pass --older-than'],
    [
      'purge with another time',
      ['inbox.sqlite', 'purge', '--older-than', '90'],
      '--older-than "90" has no unit.',
    ],
  ])('%s is an error of usage, and no file is made', async (_form, args, message) => {
    const { status, stderr } = await callCommand(['inbox', ...args]);
    expect(status).toBe(2);
    expect(stderr).toContain(message);
    expect(existsSync('inbox.sqlite')).toBe(false);
  });

  it.each([
    '"postgres://u:topsecret@h/db"',
    "'postgres://u:topsecret@h/db'",
    'postgres:/u:topsecret@h/db',
    'postgres:u:topsecret@h/db',
    'postgresql:topsecret',
    'DATABASE_URL=postgres://u:topsecret@h/db',
    'DATABASE_URL="postgres://u:topsecret@h/db"',
    'u:topsecret@h:5432/db',
    '//u:topsecret@h/db',
    'host=h password=topsecret',
    'mysql://u:topsecret@h/db',
    'postgress://u:topsecret@h/db',
    ' MySQL://u:topsecret@h/db',
    'prisma+postgres://u:topsecret@h/db',
  ])(
    'at %j, which is no URL of PostgreSQL, is an error of usage that does not quote the password',
    async (place) => {
      const { status, stdout, stderr } = await callCommand(['inbox', place]);
      expect(status).toBe(2);
      expect(stdout + stderr).not.toContain('topsecret');
      expect(stderr).toMatch(/^This is neither a file nor a URL of PostgreSQL\. Pass the URL without quotes/);
    },
  );

  it('at a URL with a password is an error of usage that names the variables for it', () => {
    const url = 'postgres://u:topsecret@127.0.0.1:1/db';
    const refused = runInbox([url]);
    expect(refused.status).toBe(2);
    expect(refused.stderr).toMatch(/visible to every user.* Set DATABASE_URL .* PGPASSWORD\./);
    expect(refused.stderr).not.toContain('topsecret');
  });

  it.skipIf(isWindows)('copy to the same file by a link is an error of usage', () => {
    const file = temporaryFile();
    writeFileSync(file, '');
    symlinkSync(file, `${file}.link`);
    const { status, stderr } = runInbox([file, 'copy', '--to', `${file}.link`]);
    expect([status, stderr]).toEqual([2, expect.stringContaining('Both are the same inbox.')]);
  });

  it('of a file that does not exist is an error, and it is not made', () => {
    const file = temporaryFile();
    expect(runInbox([file])).toEqual({
      status: 1,
      stdout: '',
      stderr: `${JSON.stringify(file)} does not exist.\n`,
    });
    expect(existsSync(file)).toBe(false);
  });

  it('leaves the journal of a database as the shop has it', async () => {
    const file = temporaryFile();
    const shop = openSqlite({ database: connect(file) });
    await shop.post(orderPaid('ord_1'));
    await shop.inbox.idle();
    expect(runInbox([file, 'show', 'order.paid:ord_1']).status).toBe(0);
    expect(connect(file).prepare('PRAGMA journal_mode').get()).toEqual({ journal_mode: 'delete' });
    expect(readdirSync(dirname(file))).toEqual([basename(file)]);
  });

  it.runIf(process.platform === 'linux')(
    'of a file that this user may only read is an error, and leaves no log that its server cannot write',
    async () => {
      const file = temporaryFile();
      const server = openSqlite({ file });
      await server.post(orderPaid('ord_1'));
      await server.inbox.close();
      chmodSync(file, 0o400);
      // Root may write to any file.
      const asOwner = process.getuid?.() === 0 ? ['setpriv', '--bounding-set=-all'] : [];
      expect(runInbox([file], undefined, asOwner)).toEqual({
        status: 1,
        stdout: '',
        stderr: `This user may not read and write ${JSON.stringify(file)}. Run the command as the user of your server.\n`,
      });
      expect(readdirSync(dirname(file))).toEqual([basename(file)]);
    },
  );

  it('of a file that holds no inbox is an error, and it is left as it was', () => {
    const text = temporaryFile();
    writeFileSync(text, 'no database'.repeat(200));
    expect(runInbox([text])).toMatchObject({
      status: 1,
      stderr: `${JSON.stringify(text)} cannot be used: file is not a database.\n`,
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

describe('the help of merchant-payments inbox', () => {
  it('lists the actions', async () => {
    const { status, stdout } = await callCommand(['inbox', '--help']);
    expect(status).toBe(0);
    for (const name of [
      'stats',
      'list',
      'find',
      'show',
      'retry',
      'discard',
      'purge',
      'refused',
      'recover',
      'accept',
      'copy',
      'held',
    ])
      expect(stdout).toMatch(new RegExp(`^  ${name} +[a-z]`, 'm'));
  });

  it.each([
    [['retry', '--help'], '--force'],
    [['orders.sqlite', 'retry', '--help'], '--pending'],
    [['--schema', 'shop', 'postgres://h/d', 'refused', '-h'], '--discard'],
    [['copy', '--help'], '--to <place>'],
  ])('%j is that of the action, with its own flags', async (args, flag) => {
    const { status, stdout } = await callCommand(['inbox', ...args]);
    expect(status).toBe(0);
    const action = args.find((word) => ['retry', 'refused', 'copy'].includes(word));
    expect(stdout).toContain(`Usage: merchant-payments inbox <file>|<postgres://…> ${action}`);
    expect(stdout).toContain(flag);
    expect(stdout).not.toContain('--print-schema');
  });
});

describe('on a Node without SQLite', () => {
  it('the command says which Node to run it with', () => {
    const file = temporaryFile();
    writeFileSync(file, '');
    const withoutSqlite = `data:text/javascript,process.getBuiltinModule = () => undefined;`;
    const { status, stderr } = runInbox([file], tmpdir(), [], ['--import', withoutSqlite]);
    expect(status).toBe(1);
    expect(stderr).toContain(
      `which Node ${process.version} does not have. Run the command with Node 22.13 or later`,
    );
  });
});
