import { describe, expect, it, vi } from 'vitest';
import { connect, opened, temporaryFile } from './inboxes.js';

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
    opened({ file });
    opened({ file });
    opened({ database: connect(file) });
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
    opened({ file: temporaryFile() });
    vi.stubEnv('VERCEL', '1');
    opened({ file: ':memory:' });
    opened({ database: connect(':memory:') });
    vi.stubEnv('VERCEL_ENV', 'development');
    opened({ file: temporaryFile() });
    expect(warn).not.toHaveBeenCalled();
  });
});
