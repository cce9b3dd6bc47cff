import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { environment, testRefusals, useProgram } from '../helpers/command.js';
import { freePort } from '../helpers/ports.js';
import { isInstalled, runProcess, startProcess } from '../helpers/processes.js';
import { endsAtOnce, isWindows } from '../helpers/systems.js';

const program = useProgram();
const exec = (args: string[], env: NodeJS.ProcessEnv = {}) => program.run(['exec', ...args], env);

testRefusals([
  [['exec'], 'Put it after --.'],
  [['exec', '--quiet'], 'The command to run is missing. Put it after --.'],
  [['exec', 'npm', 'test'], 'Put -- before npm: merchant-payments exec -- npm\nSee: merchant-payments exec'],
  [['exec', 'node', '-e', '1'], 'Put -- before node: merchant-payments exec -- node'],
  [['exec', '--prot', '1', '--', 'true'], '--prot is not a flag. Did you mean --port?'],
  [['exec', '--json', '--', 'true'], '--json is not a flag. Known are --port,'],
  [['exec', '--', 'true'], 'NODE_ENV is production', { env: { NODE_ENV: 'production' }, status: 1 }],
  [
    ['exec', '--webhook-path', 'webhooks', '--', 'true'],
    '--webhook-path: "webhooks" does not begin with /. Pass one such as /webhooks.',
  ],
  [['exec', '--webhook-path', '', '--', 'true'], '--webhook-path is empty. Pass <path>, or leave it out.'],
  [
    ['exec', '--webhook-path', '/a', '--webhook-url', 'http://localhost:1/a', '--', 'true'],
    'Pass --webhook-path or --webhook-url, not both.',
  ],
  ...['abc', '0', '65536'].map(
    (PORT) =>
      [
        ['exec', '--webhook-path', '/a', '--', 'true'],
        `PORT: "${PORT}" is not a port. Set it to a number, or unset it.`,
        { env: { PORT } },
      ] as const,
  ),
]);

describe('merchant-payments exec', () => {
  test.skipIf(isWindows || !isInstalled('curl'))(
    'gives a shell script a sandbox of its own, and returns its exit code',
    async () => {
      const script =
        'curl -s -H "x-api-key: $PAYMENTS_API_KEY" "$PAYMENTS_BASE_URL/v1/balance"; test -n "$PAYMENTS_WEBHOOK_SECRET" && test "$SANDBOX_URL" = "$PAYMENTS_BASE_URL" && exit 7';
      const { status, stdout } = await exec(['--', 'sh', '-c', script]);
      expect(status).toBe(7);
      expect(JSON.parse(stdout)).toMatchObject({ code: 0, data: { available: '0.00' } });
    },
  );

  test.skipIf(!isInstalled('python3'))(
    'lets a program in Python take a payment and wait for its event',
    async () => {
      const { status, stdout, stderr } = await exec(['--', 'python3', program.write('shop.py', python)]);
      expect(stderr).toMatch(
        /\nSandbox dashboard: http:\/\/127\.0\.0\.1:\d+\/\n.*\n\d\d:\d\d:\d\d {2}order\.paid ord_\w+ {2}kept: no webhook is set\n$/,
      );
      expect(JSON.parse(stdout)).toEqual({ amount: '19.90', pending: '19.90', status: 'no_url' });
      expect(status).toBe(0);
    },
  );

  test('passes words on as they are: no shell reads them', async () => {
    const print = 'process.stdout.write(JSON.stringify(process.argv.slice(1)))';
    const words = ['$(date)', 'a b', '*', '--json', '--', ';true'];
    const { stdout, status } = await exec(['--', process.execPath, '-e', print, '--', ...words]);
    expect([JSON.parse(stdout), status]).toEqual([words, 0]);
  });

  test('exits with 127 if there is no such program, and with 126 if it may not be run', async () => {
    expect(await exec(['--', 'no-such-program'])).toMatchObject({
      status: 127,
      stderr: expect.stringContaining('could not be started (ENOENT)'),
    });
    const plain = join(program.folder, program.write('plain', ''));
    chmodSync(plain, 0o600);
    // Windows looks for plain.exe, and finds nothing.
    const refused = await exec(['--', plain]);
    expect(refused.status).toBe(isWindows ? 127 : 126);
    if (!isWindows) expect(refused.stderr).toContain('(EACCES). Is it installed? May it be run?');
  });
});

describe('merchant-payments exec --webhook-path', () => {
  const pay = async (env: NodeJS.ProcessEnv, ...flags: string[]) => {
    const args = ['--webhook-path', '/webhooks', ...flags, '--', process.execPath];
    const { status, stdout, stderr } = await exec([...args, program.write('shop.mjs', shop)], env);
    expect([status, stderr.includes('Error')], stderr).toEqual([0, false]);
    return { ...JSON.parse(stdout), stderr };
  };

  test('gives the program a port, and sends webhooks there', async () => {
    const PORT = String(await freePort());
    const { stderr, ...result } = await pay({ PORT });
    expect(result).toEqual({
      port: PORT,
      status: 200,
      body: 'ok /webhooks',
      target: `http://localhost:${PORT}/webhooks`,
    });
    expect(stderr).toMatch(
      /^This sandbox is new: .*--data shop\.json\.\nSandbox dashboard: http:\S+\n\S+ {2}checkout chk_\w+ {2}paid {2}ord_\w+\n\d\d:\d\d:\d\d {2}order\.paid ord_\w+ {2}delivered 200 {2}\d+ ms, attempt 1\n$/,
    );
    expect((await pay({ PORT }, '--quiet')).stderr).toBe('');
    const kept = (await pay({ PORT }, '--data', 'new.json')).stderr;
    expect(kept).toMatch(/^This sandbox is new: it knows no earlier product\.\nSandbox dashboard: /);
  });

  test('treats an empty PORT as unset', async () => {
    const { port, stderr } = await pay({ PORT: '' });
    expect(stderr.includes('is taken')).toBe(port !== '3000');
  });

  test.each(['127.0.0.1', '::'])('takes a free port if 3000 is taken on %s, and says so', async (host) => {
    await take(3000, host);
    const { port, status, stderr } = await pay({});
    expect(status).toBe(200);
    expect(port).not.toBe('3000');
    expect(stderr).toContain(`Port 3000 is taken: the command gets PORT=${port}.\n`);
  });

  test('encodes the blanks of a path', async () => {
    const { status, stderr } = await exec(['--webhook-path', '/a b', '--', process.execPath, '--version']);
    expect([status, stderr]).toEqual([0, expect.stringContaining('\nSandbox dashboard: ')]);
  });
});

describe('a signal to merchant-payments exec', () => {
  test.skipIf(isWindows || !isInstalled('python3')).each([
    ['on a terminal', []],
    ['with its output in a file and no input', ['sh', '-c', 'exec "$@" </dev/null >output.txt 2>&1', 'sh']],
  ])('by Ctrl-C reaches its program once, %s', async (_, around) => {
    program.write(
      'counts.mjs',
      "import { writeFileSync } from 'node:fs'; let n = 0; process.on('SIGINT', () => { n++; setTimeout(() => { writeFileSync('interrupts', `${n}`); process.exit(7); }, 300); }); writeFileSync('ready', ''); setInterval(() => {}, 1000);",
    );
    rmSync(join(program.folder, 'ready'), { force: true });
    const command = [process.execPath, program.bin, 'exec', '--', process.execPath, 'counts.mjs'];
    const { stdout } = await runProcess('python3', ['-c', terminal, ...around, ...command], {
      cwd: program.folder,
      env: environment(),
    });
    expect([stdout, readFileSync(join(program.folder, 'interrupts'), 'utf8')]).toEqual(['7\n', '1']);
  });

  test.skipIf(endsAtOnce).each(['SIGINT', 'SIGTERM', 'SIGHUP'] as const)(
    'that no terminal sent is passed on: %s',
    async (signal) => {
      const text = `process.on('${signal}', () => process.exit(7)); console.log('ready'); setInterval(() => {}, 1000);`;
      const args = [program.bin, 'exec', '--', process.execPath, '-e', text];
      const { child, output, ended } = startProcess(process.execPath, args, {
        env: environment(),
        detached: true, // in a session of its own, which no terminal controls
      });
      await expect.poll(() => output.stdout, { timeout: 20_000 }).toContain('ready');
      child.kill(signal);
      expect((await ended).status).toBe(7);
    },
  );

  test.skipIf(isWindows)(
    'ends what its program has started, too, in an image without ps as well',
    async () => {
      const server = 'console.log(`started ${process.pid}`); setInterval(() => {}, 1000);';
      const shell = `/bin/sh -c '"$0" "$@" & wait' "$0" "$@" & wait`; // neither shell passes a signal on
      const { child, output } = program.start(
        ['exec', '--', '/bin/sh', '-c', shell, process.execPath, '-e', server],
        process.platform === 'linux' ? { PATH: '/nowhere' } : {},
      );
      await expect.poll(() => output.stdout, { timeout: 20_000 }).toContain('started');
      const pid = Number(/started (\d+)/.exec(output.stdout)?.[1]);
      onTestFinished(() => {
        if (isAlive(pid)) process.kill(pid, 'SIGKILL');
      });
      child.kill('SIGTERM');
      await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
    },
  );

  test.skipIf(isWindows)('that comes twice ends what has lost its parent in between, too', async () => {
    const leaf = 'console.log(`started ${process.pid}`); setInterval(() => {}, 1000);';
    const wrapper = `
      const { spawn } = require('node:child_process');
      const shell = spawn('/bin/sh', ['-c', '"$0" -e "$1" & wait', process.execPath, ${JSON.stringify(leaf)}], { stdio: 'inherit' });
      shell.on('exit', () => console.log('orphaned'));
      let count = 0;
      process.on('SIGTERM', () => (++count === 1 ? shell.kill('SIGKILL') : process.exit(0)));
      setInterval(() => {}, 1000);`;
    const { child, output } = program.start(['exec', '--', process.execPath, '-e', wrapper]);
    await expect.poll(() => output.stdout, { timeout: 20_000 }).toContain('started');
    const pid = Number(/started (\d+)/.exec(output.stdout)?.[1]);
    onTestFinished(() => {
      if (isAlive(pid)) process.kill(pid, 'SIGKILL');
    });
    child.kill('SIGTERM');
    await expect.poll(() => output.stdout, { timeout: 10_000 }).toContain('orphaned');
    child.kill('SIGTERM');
    await expect.poll(() => isAlive(pid), { timeout: 10_000 }).toBe(false);
  });

  test.skipIf(!canChooseIds())(
    'leaves a process alone that got the id of one that its program has ended',
    { retry: 3 }, // a process of another test may get the id first
    async () => {
      const wrapper = `
      const leaf = require('node:child_process').spawn('sleep', ['1000']);
      console.log('leaf ' + leaf.pid);
      leaf.on('exit', () => console.log('gone'));
      process.on('SIGTERM', () => leaf.kill('SIGKILL'));
      setInterval(() => require('node:fs').existsSync('taken') && process.exit(0), 50);`;
      const { child, output, ended } = program.start(['exec', '--', process.execPath, '-e', wrapper]);
      await expect.poll(() => output.stdout, { timeout: 20_000 }).toContain('leaf');
      const id = Number(/leaf (\d+)/.exec(output.stdout)?.[1]);
      child.kill('SIGTERM');
      await expect.poll(() => output.stdout, { timeout: 10_000 }).toContain('gone');
      const stranger = await startWithId(id);
      program.write('taken', '');
      await ended;
      expect(isAlive(id)).toBe(true);
      expect(stranger.signalCode).toBeNull();
    },
  );
});

const lastId = '/proc/sys/kernel/ns_last_pid';

/** True if this user may choose the id of the next process. */
function canChooseIds(): boolean {
  try {
    writeFileSync(lastId, readFileSync(lastId));
    return true;
  } catch {
    return false;
  }
}

/** Starts a process with an id, which lives until the test is finished. */
async function startWithId(id: number): Promise<ChildProcess> {
  for (let tries = 0; tries < 50; tries++) {
    writeFileSync(lastId, `${id - 1}`);
    const child = spawn('sleep', ['1000']);
    const ended = once(child, 'exit');
    onTestFinished(() => void child.kill('SIGKILL'));
    if (child.pid === id) return child;
    child.kill('SIGKILL');
    await ended;
  }
  throw new Error(`Another process has got the id ${id}.`);
}

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

/** Listens on a port until the test is finished, unless something else does. */
async function take(port: number, host: string): Promise<void> {
  const server: Server = createServer().listen(port, host);
  await once(server, 'listening').then(
    () => onTestFinished(() => void server.close()),
    () => undefined,
  );
}

/** A shop that prints where it runs and is paid once. */
const shop = `
import { createServer } from 'node:http';
const call = async (path, body) => (await fetch(path, { method: 'POST', headers: { 'x-api-key': process.env.PAYMENTS_API_KEY, 'content-type': 'application/json' }, body: JSON.stringify(body) })).json();
const server = createServer((request, response) => { request.resume(); response.end('ok ' + request.url); });
server.listen(process.env.PORT, '127.0.0.1', async () => {
  const { delivery } = await call(process.env.SANDBOX_URL + '/_sandbox/trigger', {});
  console.log(JSON.stringify({ port: process.env.PORT, status: delivery.status, body: delivery.responseBody, target: delivery.target }));
  server.close();
});
`;

/** Runs a program on a terminal, and types Ctrl-C once it is ready. */
const terminal = `
import os, pty, sys, time
pid, fd = pty.fork()
if pid == 0:
    os.execvp(sys.argv[1], sys.argv[1:])
while not os.path.exists('ready'):
    time.sleep(0.05)
os.write(fd, b'\\x03')
try:
    while os.read(fd, 1024):
        pass
except OSError:
    pass
_, status = os.waitpid(pid, 0)
print(os.waitstatus_to_exitcode(status))
`;

const python = `
import json, os, urllib.request

def call(base, method, path, body=None):
    headers = {"x-api-key": os.environ["PAYMENTS_API_KEY"], "content-type": "application/json"}
    data = None if body is None else json.dumps(body).encode()
    with urllib.request.urlopen(urllib.request.Request(base + path, data, headers, method=method)) as answer:
        return json.load(answer)

api, control = os.environ["PAYMENTS_BASE_URL"], os.environ["SANDBOX_URL"] + "/_sandbox"
product = call(api, "POST", "/v1/products", {"name": "Mug", "price": "19.90"})["data"]
checkout = call(api, "POST", "/v1/checkouts", {"productId": product["id"]})["data"]
call(control, "POST", "/checkouts/" + checkout["id"] + "/complete", {})
event = call(control, "GET", "/events?wait=5s")["events"][0]
balance = call(api, "GET", "/v1/balance")["data"]
print(json.dumps({"amount": event["data"]["amount"], "pending": balance["pending"], "status": event["state"]}))
`;
