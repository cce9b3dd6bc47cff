// The packed package in others' hands: builds and packs it, installs it here, and runs every part in a process of
// its own. `npm run compat` runs all of them, `npm run compat receivers fulfilment` only those.
import { execFileSync, spawn } from 'node:child_process';
import { closeSync, cpSync, existsSync, mkdirSync, openSync, readFileSync, rmSync, statSync } from 'node:fs';
import { fileURLToPath } from 'node:url';

const here = fileURLToPath(new URL('.', import.meta.url));
const root = fileURLToPath(new URL('..', import.meta.url));
const tests = ['--import', 'tsx', '--test', '--test-reporter', 'spec'];

/** Each part: the arguments of `node`, in this folder. */
const parts = {
  versions: ['versions/run.mjs'],
  npm: ['npm/run.mjs'], // computes most, like the one before: first, so that what is measured by time runs beside less
  runtimes: ['runtimes/run.mjs'],
  consumers: ['consumers/run.mjs'],
  receivers: [
    ...tests,
    'receivers/receivers.test.ts',
    'receivers/frameworks.test.ts',
    'receivers/places.test.ts',
  ],
  fulfilment: ['fulfilment/run.mjs'],
  inbox: [
    ...tests,
    '--test-force-exit',
    '--test-concurrency=1',
    'inbox/samples.test.ts',
    'inbox/shop.test.ts',
    'inbox/serverless.test.ts',
    'inbox/tables.test.ts',
    'inbox/plans.test.ts',
    'inbox/connections.test.ts',
    'inbox/postgres.test.ts',
    'inbox/contract/contract.test.ts',
  ],
  chaos: [...tests, 'inbox/chaos/chaos.test.ts'],
  'crash-test': [...tests, 'crash-test/crash-test.test.ts'],
  signatures: [...tests, 'signatures/signatures.test.ts'],
  conformance: [...tests, 'conformance/conformance.test.mjs', 'conformance/languages.test.ts'],
  types: ['node_modules/typescript/bin/tsc'],
  lint: ['lint/run.mjs'],
  transport: ['transport/run.mjs'],
  observability: [...tests, 'observability/observability.test.ts', 'observability/tracers.test.mjs'],
  examples: ['--import', 'tsx', 'examples/run.mjs'],
  shops: [...tests, 'shops/shops.test.ts'],
  doctor: [...tests, 'doctor/doctor.test.ts', 'doctor/languages.test.ts'],
  next: ['next/run.mjs'],
  applications: ['applications/run.mjs'],
  sandbox: ['sandbox/run.mjs'],
};

/** Folders of examples that need a framework, and where in `.examples` they are copied to. */
const copies = {
  webhooks: '',
  fulfilment: '/fulfilment',
  shop: '/shop',
  testing: '/testing',
  'stock-the-shop.ts': '/stock-the-shop.ts',
  observability: '/observability',
  'shop-express': '/shop-express',
  'shop-next': '/shop-next',
  nextjs: '/nextjs',
};

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) {
  console.error(`No part ${unknown.join(', ')}. There are ${Object.keys(parts).join(', ')}.`);
  process.exit(2);
}

const tarball = install();
const waiting = asked.length > 0 ? asked : Object.keys(parts);
const failed = [];
await Promise.all([takeParts(), takeParts()]); // two at a time: most of them wait more than they compute
for (const { title, output } of failed) console.log(title + output);
console.log(
  failed.length > 0
    ? `\ncompat: ${failed.map(({ name }) => name).join(', ')} failed`
    : '\ncompat: all parts passed',
);
process.exitCode = failed.length > 0 ? 1 : 0;

async function takeParts() {
  for (let name = waiting.shift(); name; name = waiting.shift()) {
    const began = performance.now();
    const { code, output } = await runPart(name);
    const seconds = Math.round((performance.now() - began) / 1000);
    const title = `\n── ${name}: ${code === 0 ? 'passed' : `FAILED with ${code}`} in ${seconds} s\n`;
    console.log(code === 0 ? title + output : title);
    if (code !== 0) failed.push({ name, title, output }); // printed last, where a reader of a long log looks first
  }
}

/** Prints nothing before its end, so that two parts do not mix. Its output is a file: no process left behind holds that open. */
function runPart(name) {
  const log = `${here}.package/${name}.log`;
  const file = openSync(log, 'w');
  return new Promise((resolve) => {
    const finish = (code) => {
      closeSync(file);
      resolve({ code, output: readFileSync(log, 'utf8') });
    };
    spawn(process.execPath, parts[name], {
      cwd: here,
      stdio: ['ignore', file, file],
      env: { ...process.env, COMPAT_TARBALL: tarball },
      timeout: 2_000_000,
      killSignal: 'SIGKILL',
    })
      .on('error', (error) => finish(error.message))
      .on('exit', (code, signal) => finish(code ?? signal));
  });
}

/** Builds, packs and installs the package, or the tarball of COMPAT_TARBALL; it has no dependencies, so unpacking installs it. */
function install() {
  if (!isInstalled()) run('npm', ['ci', '--no-audit', '--no-fund'], here);
  if (!existsSync(`${here}node_modules/better-sqlite3/build`)) compileForNode20('better-sqlite3');
  run('npm', ['run', '--silent', 'build'], root);
  empty(`${here}.package`);
  const packed = process.env.COMPAT_TARBALL || pack();
  const target = `${here}node_modules/merchant-payments`;
  empty(target);
  run('tar', ['-xzf', packed, '-C', target, '--strip-components', '1'], here);
  // A copy, from which the examples find the frameworks of this folder.
  empty(`${here}.examples`);
  for (const [folder, copy] of Object.entries(copies)) {
    const from = `${root}examples/${folder}`;
    if (existsSync(from)) cpSync(from, `${here}.examples${copy}`, { recursive: true });
  }
  return packed;
}

/** No install script runs here. This one compiles against the headers that the package node-20 brings. */
function compileForNode20(name) {
  process.env.npm_config_build_from_source = 'true';
  run('npm', ['rebuild', name, '--ignore-scripts=false', `--nodedir=${here}node_modules/node-20`], here);
}

function pack() {
  const args = ['pack', '--silent', '--ignore-scripts', '--pack-destination', `${here}.package`];
  return `${here}.package/${execFileSync('npm', args, { cwd: root, encoding: 'utf8' }).trim()}`;
}

/** Whether node_modules is what the lock asks for. */
function isInstalled() {
  const receipt = `${here}node_modules/.package-lock.json`;
  return existsSync(receipt) && statSync(receipt).mtimeMs >= statSync(`${here}package-lock.json`).mtimeMs;
}

function empty(folder) {
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
}

function run(command, args, cwd) {
  execFileSync(command, args, { cwd, stdio: ['ignore', 'inherit', 'inherit'] });
}
