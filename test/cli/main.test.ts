import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { build } from 'esbuild';
import { describe, expect, test } from 'vitest';
import { escapeInvisible } from '../../src/input/visible.js';
import { callCommand, hostile, testRefusals, useProgram } from '../helpers/command.js';
import { filesIn } from '../helpers/files.js';
import { runProcess } from '../helpers/processes.js';

testRefusals([
  [['sandbx'], '"sandbx" is not a command. Did you mean sandbox?\nSee: merchant-payments --help\n'],
  [['help', 'sandbx'], '"sandbx" is not a command. Did you mean sandbox?'],
  [['--verison'], '"--verison" is not a command. Did you mean --version?\nSee: '],
  [
    ['sandbox', '--prot', '1'],
    '--prot is not a flag. Did you mean --port?\nSee: merchant-payments sandbox --help\n',
  ],
  [['sandbox', '--webhook', 'http://localhost/'], '--webhook is not a flag. Did you mean --webhook-url?'],
  [['sandbox', '--secret', 'a'], '--secret is not a flag. Did you mean --webhook-secret?'],
  [['doctor', '--secret', 'a'], '--secret is not a flag. Set PAYMENTS_WEBHOOK_SECRET instead.'],
  [['sandbox', '-p', '1'], '-p is not a flag. Known are --port, '],
  [['sandbox', 'now'], '"now" is not expected here.'],
  [['sandbox', '--port'], '--port: pass a value: --port=<port>\nSee: '],
  [['sandbox', '--seed', '-1'], '--seed: pass a value: --seed=<integer>\nSee: '],
  [['sandbox', '--quiet=1'], '--quiet takes no value.\nSee: '],
  [['sandbox', '--help=1'], '--help takes no value.\nSee: '],
  [['sandbox', '--port', '1', '--port', '2'], '--port is given twice. Pass it once.\nSee: '],
  [['sandbox', '--port='], '--port is empty. Pass <port>, or leave it out.\nSee: '],
  [['sandbox', '--allow-host='], '--allow-host is empty. Pass <name>, or leave it out.\nSee: '],
  [['sandbox', '--port', '70000'], '--port "70000" is not an integer from 0 to 65535.'],
  [['sandbox'], 'SANDBOX_PORT "x" is not an integer', { env: { SANDBOX_PORT: 'x' } }],
]);

describe('the help', () => {
  test('has every command with an example, every flag and the default port', async () => {
    const overview = await callCommand(['--help']);
    expect(overview.status).toBe(0);
    const names = [...overview.stdout.matchAll(/^ {2}([a-z]+(?:-[a-z]+)?) {2}/gm)].map(
      ([, name = '']) => name,
    );
    expect(names[0]).toBe('examples');
    expect(names).toEqual(
      expect.arrayContaining(['sandbox', 'exec', 'trigger', 'deliver', 'fault', 'advance', 'reset']),
    );
    for (const name of names)
      expect((await callCommand([name, '--help'])).stdout).toMatch(
        new RegExp(`\n\nExample: merchant-payments ${name}\\b.*\n$`),
      );
    const { stdout } = await callCommand(['sandbox', '--help']);
    for (const flag of [
      'port',
      'webhook-url',
      'scheme',
      'unspecified',
      'allow-host',
      'data',
      'quiet',
      'json',
    ])
      expect(stdout).toContain(`\n  --${flag} `);
    expect(stdout).toContain('port to listen on; default 4380 [SANDBOX_PORT]');
  });

  test('--version prints the version of the package', async () => {
    const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
    expect(await callCommand(['--version'])).toEqual({ status: 0, stdout: `${version}\n`, stderr: '' });
  });
});

describe('the program', () => {
  const program = useProgram();

  test('exits with the code of its command', async () => {
    expect(await program.run(['--version'])).toMatchObject({ status: 0, stderr: '' });
    expect(await program.run(['sandbx'])).toMatchObject({ status: 2, stdout: '' });
  });

  test.each(['12.22.12', '18.20.8', '20.18.3', '21.7.3', '22.2.0'])(
    'on Node %s says which one is needed',
    async (node) => {
      const outfile = join(program.folder, 'bin.mjs');
      await build({ entryPoints: ['src/cli/bin.ts'], outfile, format: 'esm', logLevel: 'error' });
      const older = `data:text/javascript,Object.defineProperty(process,"versions",{value:{node:"${node}"}})`;
      expect(await runProcess(process.execPath, ['--import', older, outfile])).toEqual({
        status: 1,
        stdout: '',
        stderr: `merchant-payments needs Node 20.19, or 22.3 and later. This is Node ${node}.\n`,
      });
    },
  );

  test.each(['win32', 'linux'])(
    'on %s asks whether a program that cannot be started is installed',
    async (system) => {
      // Set once Node and the loader run: only the code of the package then sees another system.
      const text = `
      process.argv.splice(1, 0, 'merchant-payments');
      Object.defineProperty(process, 'platform', { value: '${system}' });
      await import(${JSON.stringify(pathToFileURL(program.bin).href)});`;
      const args = ['--input-type=module', '--eval', text, 'exec', '--', 'no-such-program'];
      const { stderr, status } = await runProcess(process.execPath, args);
      expect(stderr).toContain('no-such-program could not be started (ENOENT). Is it installed?');
      expect(status).toBe(127);
    },
  );
});

describe('escape sequences of strangers', () => {
  test.each([
    [[hostile]],
    [['sandbox', `--${hostile}`]],
    [['reset', '--sandbox', hostile]],
    [['trigger', hostile]],
    [['identify', hostile]],
    [['exec', '--', hostile]],
  ])('are made visible in the error of %j', async (args) => {
    const { status, stderr } = await callCommand(args);
    expect(status).toBeGreaterThan(0);
    expect(stderr).toBe(stderr.split('\n').map(escapeInvisible).join('\n'));
  });

  test('are made visible by terminal.ts, through which every command prints', () => {
    const direct = filesIn('src/cli').filter(
      (name) =>
        // bin.ts prints its own version alone, a prompt has no line end, and crash-test.ts rewrites a line of figures.
        !['terminal.ts', 'bin.ts', 'signing.ts', 'crash-test.ts'].includes(name) &&
        /process\.std(?:out|err)\.write|console\./.test(readFileSync(`src/cli/${name}`, 'utf8')),
    );
    expect(direct).toEqual([]);
  });
});
