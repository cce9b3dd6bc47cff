import { expect, test } from 'vitest';
import { succeed } from '../helpers/bodies.js';
import { children } from '../helpers/child.js';
import { FaultyServer } from '../helpers/faulty-server.js';

const { run } = children();

test('importing the package adds no global but one of zod, keeps nothing alive and prints nothing', async () => {
  const found = await run(`
    const shape = () => new Map(Reflect.ownKeys(globalThis).flatMap((name) => {
      const { value } = Object.getOwnPropertyDescriptor(globalThis, name);
      const parts = value && /function|object/.test(typeof value) ? [value, value.prototype].filter(Boolean) : [];
      return [[name, value], ...parts.flatMap((part, index) => Reflect.ownKeys(part).map((key) => {
        const field = Object.getOwnPropertyDescriptor(part, key);
        return [String(name) + '.' + index + '.' + String(key), field.value ?? field.get];
      }))];
    }));
    // Node makes many of its globals on their first use.
    for (const name of Reflect.ownKeys(globalThis)) if (!/Storage$|^navigator$/.test(String(name))) void globalThis[name];
    const before = shape();
    const listeners = process.eventNames().length;
    const handles = process.getActiveResourcesInfo().length;
    const environment = JSON.stringify(process.env);
    await import(entry);
    const after = shape();
    const changed = [...after].filter(([name, value]) => !/^(?:process|performance|global|globalThis)\\./.test(String(name)) && !Object.is(before.get(name), value));
    await new Promise((resolve) => setTimeout(resolve, 20));
    console.log(JSON.stringify({
      changed: changed.map(([name]) => String(name)),
      gone: [...before.keys()].filter((name) => !after.has(name)).map(String),
      handles: Math.max(0, process.getActiveResourcesInfo().length - handles),
      listeners: process.eventNames().length - listeners,
      environment: JSON.stringify(process.env) === environment,
    }));
  `);
  expect(found).toEqual({
    changed: ['__zod_globalConfig'],
    gone: [],
    handles: 0,
    listeners: 0,
    environment: true,
  });
});

test('a call reads no setting but the two that are documented, and sends one fixed set of headers', async () => {
  const server = await FaultyServer.start(succeed);
  const environment = { PAYMENTS_API_KEY: 'service_test_1', PAYMENTS_BASE_URL: server.url };
  const found = await run(
    `
    const read = new Set();
    const { env } = process;
    Object.defineProperty(process, 'env', { value: new Proxy(env, {
      get: (target, name) => { if (new Error().stack.split('\\n')[2].includes(new URL('.', entry).href)) read.add(name); return target[name]; },
    }) });
    const { PaymentsClient } = await import(entry);
    const client = new PaymentsClient();
    await client.balance.retrieve();
    await client.products.create({ name: 'Mug', price: '5' });
    console.log(JSON.stringify([...read].sort()));
  `,
    { env: environment },
  );
  expect(found).toEqual(['PAYMENTS_API_KEY', 'PAYMENTS_BASE_URL']);
  const names = server.requests.map(({ headers }) =>
    headers.map((line) => line.split(':')[0]?.toLowerCase()).sort(),
  );
  const always = ['accept', 'connection', 'host', 'user-agent', 'x-api-key'];
  expect(names).toEqual([always, [...always, 'content-length', 'content-type'].sort()]);
  await server.close();
});

test('a call writes no file, starts no process and no thread', async () => {
  const server = await FaultyServer.start(succeed);
  const program = `
    const { PaymentsClient } = await import(entry);
    const client = new PaymentsClient();
    console.log(JSON.stringify((await client.balance.retrieve()).available));
  `;
  const env = { PAYMENTS_API_KEY: 'service_test_1', PAYMENTS_BASE_URL: server.url };
  const permission = process.allowedNodeEnvironmentFlags.has('--permission')
    ? '--permission'
    : '--experimental-permission';
  const flags = [permission, '--allow-fs-read=*', '--no-warnings', '--allow-net'].filter(
    (flag) =>
      process.allowedNodeEnvironmentFlags.has(flag.replace(/=.*/, '')) ||
      flag === permission ||
      flag.startsWith('--allow-fs'),
  );
  expect(await run(program, { flags, env })).toBe('1250.00');
  await server.close();
});

test('a process ends by itself after its last call, with connections still kept', async () => {
  const server = await FaultyServer.start(succeed);
  const found = await run(
    `
    const { PaymentsClient } = await import(entry);
    await new PaymentsClient().balance.retrieve();
    process.on('exit', () => console.log(JSON.stringify('by itself')));
  `,
    { env: { PAYMENTS_API_KEY: 'key', PAYMENTS_BASE_URL: server.url } },
  );
  expect(found).toBe('by itself');
  await server.close();
});
