import { describe, expect, it, vi } from 'vitest';
import { connect, openSqlite, temporaryFile } from './inboxes.js';

describe('an inbox in a file where disks go away with the instance', () => {
  it.each([
    ['Vercel', { VERCEL: '1', VERCEL_ENV: 'production' }],
    ['AWS Lambda', { AWS_LAMBDA_FUNCTION_NAME: 'hook', LAMBDA_TASK_ROOT: '/var/task' }],
    ['Google Cloud Run', { K_SERVICE: 'shop' }],
    ['Heroku', { DYNO: 'web.1' }],
  ])('warns once: %s', (name, variables) => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    for (const [variable, value] of Object.entries(variables)) vi.stubEnv(variable, value);
    const file = temporaryFile();
    openSqlite({ file });
    openSqlite({ file });
    openSqlite({ database: connect(file) });
    expect(warn.mock.calls).toEqual([
      [
        expect.stringContaining(
          `${JSON.stringify(file)} is on a disk that goes away with this instance of ${name},`,
        ),
      ],
    ]);
  });

  it('says nothing of a database in memory, of one on a developer’s machine, or elsewhere', () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    openSqlite({ file: temporaryFile() });
    vi.stubEnv('VERCEL', '1');
    openSqlite({ file: ':memory:' });
    openSqlite({ database: connect(':memory:') });
    vi.stubEnv('VERCEL_ENV', 'development');
    openSqlite({ file: temporaryFile() });
    expect(warn).not.toHaveBeenCalled();
  });
});
