// The routes of docs/frameworks.md in an application of each framework: built by its own command, its production server, and its
// dev server where that loads modules again. Nuxt's server alone, which is Nitro.
import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, mkdirSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { after, afterEach, before, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { openInbox } from 'merchant-payments/inbox';
import { sign } from 'merchant-payments/webhooks';
import { freePort } from '../../test/helpers/ports.js';
import { listening } from '../lib/receiver.js';
import { type Postgres, startPostgres } from '../lib/servers.js';

const compat = fileURLToPath(new URL('..', import.meta.url));
const page = readFileSync(`${compat}../docs/frameworks.md`, 'utf8');
const inbox = readFileSync(`${compat}applications/inbox.ts`, 'utf8');
const secret = 'whsec_of_the_applications';
const orders = `${compat}.applications/orders.sqlite`;

interface Application {
  name: string;
  /** The file of the inbox, and the line of the route that imports it. */
  inbox: string;
  imports: string;
  build: string[];
  start: string[];
  dev?: string[];
  /** Stored deliveries are fulfilled at the start, and not with the first request. */
  worksAtStart: boolean;
  /** A request without Content-Type is taken for a form of another site. */
  refusesForms: boolean;
}

const applications: Application[] = [
  {
    name: 'SvelteKit',
    inbox: 'src/lib/server/inbox.ts',
    imports: "import { receive } from '../../lib/server/inbox.ts';",
    build: ['../../node_modules/vite/bin/vite.js', 'build'],
    start: ['build/index.js'],
    dev: ['../../node_modules/vite/bin/vite.js', 'dev', '--host', '127.0.0.1', '--port'],
    worksAtStart: true,
    refusesForms: true,
  },
  {
    name: 'Astro',
    inbox: 'src/inbox.ts',
    imports: "import { receive } from '../inbox.ts';",
    build: ['../../node_modules/astro/bin/astro.mjs', 'build'],
    start: ['dist/server/entry.mjs'],
    dev: ['../../node_modules/astro/bin/astro.mjs', 'dev', '--host', '127.0.0.1', '--port'],
    worksAtStart: false,
    refusesForms: true,
  },
  {
    name: 'Nuxt',
    inbox: 'server/utils/inbox.ts', // imported by itself
    imports: '',
    build: ['../../node_modules/nitropack/dist/cli/index.mjs', 'build'],
    start: ['.output/server/index.mjs'],
    worksAtStart: true,
    refusesForms: false,
  },
];

let running: ChildProcess | undefined;
let printed = '';
let folder: string;
let url: string;

before(() => {
  rmSync(`${compat}.applications`, { recursive: true, force: true });
  cpSync(`${compat}applications`, `${compat}.applications`, { recursive: true });
  // In a project of its own, npm installs it at the top; here another version is there.
  mkdirSync(`${compat}.applications/astro/node_modules`);
  symlinkSync(
    `${compat}node_modules/astro/node_modules/cookie`,
    `${compat}.applications/astro/node_modules/cookie`,
  );
});

afterEach(stop);

for (const application of applications) {
  describe(application.name, () => {
    before(() => {
      for (const end of ['', '-shm', '-wal']) rmSync(`${orders}${end}`, { force: true });
      enter(application);
    });

    test('a build fulfils nothing that is stored', async () => {
      await using stored = openInbox({ file: orders, secret, work: false });
      assert.equal(
        (await stored.handler(new Request('http://shop.example', signDelivery('ord_0')))).status,
        200,
      );
      await once(run(application.build), 'exit');
      assert.equal(running?.exitCode, 0, printed);
      assert.deepEqual(
        (await stored.list()).map(({ state }) => state),
        ['pending'],
      );
    });

    test(`what is stored is fulfilled ${application.worksAtStart ? 'at the start' : 'after a first request of the route'}`, async () => {
      await serve(application.start);
      if (!application.worksAtStart) await fetch(url);
      await waitUntil(() => listFulfilled().length > 0);
      assert.deepEqual(listFulfilled(), ['ord_0']);
    });

    test('raw bodies arrive unchanged: 200 and fulfilled once, 400 and kept once the body was changed', async () => {
      await serve(application.start);
      const good = signDelivery('ord_1');
      assert.equal((await fetch(url, good)).status, 200, printed);
      await waitUntil(() => listFulfilled().length > 0);
      assert.equal((await fetch(url, { ...good, body: good.body.replace('10.00', '90.00') })).status, 400);
      assert.equal((await fetch(url, good)).status, 200);
      await fetch(url, signDelivery('ord_2'));
      await waitUntil(() => listFulfilled().includes('ord_2'));
      assert.deepEqual(listFulfilled(), ['ord_1', 'ord_2']);
      await using kept = openInbox({ file: orders, secret, work: false });
      assert.deepEqual(
        (await kept.refused()).map(({ code }) => code),
        ['signature_mismatch'],
      );
    });

    test(`a delivery without Content-Type is ${application.refusesForms ? 'refused before it reaches the route' : 'fulfilled'}`, async () => {
      await serve(application.start);
      const { method, body, headers } = signDelivery('ord_3');
      const { 'content-type': _, ...others } = headers;
      const response = await fetch(url, { method, body: Buffer.from(body), headers: others });
      assert.equal(response.status, application.refusesForms ? 403 : 200);
    });
  });
}

describe('a dev server that has loaded the inbox again, with a new pool', () => {
  let postgres: Postgres;
  before(async () => {
    postgres = await startPostgres();
  });
  after(() => postgres.stop());

  for (const application of applications) {
    const { name, dev, inbox: file } = application;
    if (dev)
      test(`${name} fulfils 40 deliveries by the new function, each once`, async () => {
        enter(application);
        const pooled = inbox
          .replace(/^/, "import { Pool } from 'pg';\n")
          .replace(/file: .*/, `pool: new Pool({ connectionString: '${postgres.url}' }),`);
        write(file, pooled);
        await serve(dev);
        for (const [last, next] of [
          ['one', 'two'],
          ['two', 'three'],
        ] as const) {
          await deliverUntilRun(`${name}_${last}`, last);
          write(file, pooled.replace('version one', `version ${next}`));
          await deliverUntilRun(`${name}_${next}`, next);
          const from = printed.length;
          const ids = Array.from({ length: 40 }, (_, index) => `ord_${name}_${next}_${index}`);
          for (const status of await Promise.all(ids.map((id) => fetch(url, signDelivery(id)))))
            assert.equal(status.status, 200, printed);
          await waitUntil(() => ids.every((id) => listFulfilled().includes(id)));
          const runs = [...printed.slice(from).matchAll(/^fulfilled (\S+) by version (\w+)$/gm)];
          assert.deepEqual(new Set(runs.map(([, , version]) => version)), new Set([next]));
          assert.deepEqual(runs.flatMap(([, id = '']) => (ids.includes(id) ? [id] : [])).sort(), ids.sort());
        }
      });
  }
});

/** Writes the inbox and the route of an application, in whose folder commands run from now on. */
function enter({ name, inbox: file, imports }: Application): void {
  folder = `${compat}.applications/${name.toLowerCase()}`;
  const { path, statements } = readRoute(name);
  write(file, inbox);
  write(path, [imports, ...statements].join('\n'));
}

/** Delivers until the function of this version has run. */
async function deliverUntilRun(prefix: string, version: string): Promise<void> {
  let count = 0;
  await waitUntil(async () => {
    await fetch(url, signDelivery(`ord_${prefix}_first_${count++}`));
    return printed.includes(`by version ${version}`);
  });
}

/** The file of a framework's route and its statements, as the page has them. */
function readRoute(name: string): { path: string; statements: string[] } {
  const [item = ''] = page.match(new RegExp(`^- ${name}\\b.*(?:\\n  .*)*`, 'm')) ?? [];
  const code = [...item.matchAll(/`([^`]+)`/g)].map(([, text = '']) => text);
  const statements = code.filter((text) => text.startsWith('export'));
  assert.ok(statements.length > 0, `docs/frameworks.md has no route of ${name}`);
  return { path: code[0] ?? '', statements };
}

/** A delivery whose body no parser would write again as it is. */
function signDelivery(id: string) {
  const body = `{ "type" :"order.paid",\t"data":{"order_id":"${id}","amount":"10.00",  "currency":"USD","note":"Gr\\u00fc\\u00DFe \\/ ü"}}\r\n\n`;
  return {
    method: 'POST',
    body,
    headers: { 'content-type': 'application/json', ...sign({ rawBody: body, secret }) },
  };
}

function write(path: string, text: string): void {
  mkdirSync(dirname(`${folder}/${path}`), { recursive: true });
  writeFileSync(`${folder}/${path}`, text);
}

const listFulfilled = () => Array.from(printed.matchAll(/^fulfilled (\S+)/gm), ([, id]) => id ?? '');

async function serve(args: string[]): Promise<void> {
  const port = await freePort();
  url = `http://127.0.0.1:${port}/webhooks`;
  const isDev = args.at(-1) === '--port';
  await listening(run(isDev ? [...args, `${port}`] : args, port), port, () => printed);
}

function run(args: string[], port = 0): ChildProcess {
  printed = '';
  running = spawn(process.execPath, args, {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: {
      ...process.env,
      HOST: '127.0.0.1',
      PORT: `${port}`,
      ORDERS_FILE: orders,
      PAYMENTS_WEBHOOK_SECRET: secret,
      ASTRO_TELEMETRY_DISABLED: '1',
    },
  });
  for (const stream of [running.stdout, running.stderr])
    stream?.on('data', (chunk) => {
      printed += chunk;
    });
  return running;
}

async function stop(): Promise<void> {
  const child = running;
  running = undefined;
  if (child?.exitCode !== null || child.signalCode !== null) return;
  const ended = once(child, 'exit', { signal: AbortSignal.timeout(15_000) });
  child.kill();
  await ended.catch(() => {
    child.kill('SIGKILL');
    throw new Error(`it did not end on SIGTERM:\n${printed}`);
  });
}

async function waitUntil(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000;
  while (!(await isTrue())) {
    assert.ok(performance.now() < end, `it did not happen within 60 s:\n${printed}`);
    await new Promise((resolve) => setTimeout(resolve, 100));
  }
}
