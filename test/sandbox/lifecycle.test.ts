import { once } from 'node:events';
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { PaymentsClient } from 'merchant-payments';
import { createSandbox } from 'merchant-payments/sandbox';
import { expect, test, vi } from 'vitest';

/** Collects the rejections that nobody caught while `run` ran and shortly after. */
async function uncaughtIn(run: () => Promise<unknown>): Promise<unknown[]> {
  const uncaught: unknown[] = [];
  const note = (reason: unknown) => uncaught.push(reason);
  const others = process.listeners('unhandledRejection');
  process.removeAllListeners('unhandledRejection');
  process.on('unhandledRejection', note);
  try {
    await run();
    await new Promise((resolve) => setTimeout(resolve, 20));
  } finally {
    process.off('unhandledRejection', note);
    for (const other of others) process.on('unhandledRejection', other);
  }
  return uncaught;
}

test('close() after a webhook function that threw leaves no unhandled rejection', async () => {
  const uncaught = await uncaughtIn(async () => {
    const sandbox = createSandbox({
      webhook: () => {
        throw new Error('no database');
      },
    });
    const { delivery } = await sandbox.trigger('order.paid');
    expect(delivery).toMatchObject({ ok: false, error: 'no database' });
    await sandbox.close();
  });
  expect(uncaught).toEqual([]);
});

test('close() while a webhook function is still at work leaves no unhandled rejection', async () => {
  let reject = (_: Error) => {};
  const uncaught = await uncaughtIn(async () => {
    const sandbox = createSandbox({
      webhook: () =>
        new Promise((_, fail) => {
          reject = fail;
        }),
    });
    const paid = sandbox.trigger('order.paid');
    await new Promise(setImmediate);
    await sandbox.close();
    expect((await paid).delivery).toMatchObject({ ok: false, error: 'The sandbox was closed.' });
    reject(new Error('too late'));
  });
  expect(uncaught).toEqual([]);
});

test('an event after reset() is delivered, though one with its id was in flight before', async () => {
  const bodies: string[] = [];
  let release = () => {};
  const sandbox = createSandbox({
    seed: 1,
    webhook: async (request) => {
      bodies.push(await request.text());
      if (bodies.length === 1)
        await new Promise<void>((resolve) => {
          release = resolve;
        });
      return new Response();
    },
  });
  const before = sandbox.trigger('order.paid');
  await vi.waitFor(() => expect(bodies).toHaveLength(1));
  sandbox.reset();
  expect((await before).delivery).toMatchObject({ ok: false, error: 'The sandbox was reset.' });
  const { event, delivery } = await sandbox.trigger('order.paid');
  expect(event.id).toBe((await before).event.id);
  expect([event.state, delivery?.ok]).toEqual(['delivered', true]);
  release();
  await sandbox.advanceTime('1d');
  expect(bodies).toHaveLength(2);
  expect(sandbox.events).toMatchObject([{ state: 'delivered', attempts: [{ number: 1 }] }]);
});

test('a predicate of waitForEvent that throws rejects that call, and harms neither payment nor other waits', async () => {
  const sandbox = createSandbox({ webhook: () => new Response() });
  const broken = sandbox.waitForEvent(() => {
    throw new TypeError('of undefined');
  });
  const refused = expect(broken).rejects.toThrow('of undefined');
  const other = sandbox.waitForEvent(({ state }) => state === 'delivered');
  const { order, delivery } = await sandbox.trigger('order.paid');
  expect(delivery?.ok).toBe(true);
  await refused;
  expect((await other).data.order_id).toBe(order.id);
});

const openServers = () => process.getActiveResourcesInfo().filter((name) => name === 'TCPServerWrap').length;

test('a client that hangs up in the middle of a body is not printed as a failure of the sandbox', async () => {
  const printed = vi.spyOn(console, 'error').mockImplementation(() => {});
  const sandbox = await createSandbox().listen();
  const socket = connect(Number(new URL(sandbox.url).port), '127.0.0.1');
  const head = `POST /v1/products HTTP/1.1\r\nHost: 127.0.0.1\r\nx-api-key: ${sandbox.apiKey}`;
  socket.write(`${head}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
  await sleep(100);
  socket.destroy();
  await sleep(200);
  await sandbox.close();
  expect(printed).not.toHaveBeenCalled();
  printed.mockRestore();
});

test('two listen() calls at once open one server', async () => {
  const sandbox = createSandbox();
  const [first, second] = await Promise.all([sandbox.listen(), sandbox.listen()]);
  const { url } = sandbox;
  expect([first.url, second.url]).toEqual([url, url]);
  await expect(sandbox.listen()).rejects.toThrow(`The sandbox listens already, on ${url}.`);
  await sandbox.close();
  await expect(fetch(url)).rejects.toThrow('fetch failed');
  await expect.poll(openServers).toBe(0);
});

test('close() during listen() closes what it opens', async () => {
  const sandbox = createSandbox();
  const listening = sandbox.listen();
  await sandbox.close();
  await listening;
  await expect.poll(openServers).toBe(0);
});

test('a listen() that failed can be tried again', async () => {
  const other = createServer().listen(0, '127.0.0.1');
  await new Promise((resolve) => other.once('listening', resolve));
  const address = other.address();
  const port = typeof address === 'object' && address !== null ? address.port : 0;
  const sandbox = createSandbox();
  await expect(sandbox.listen({ port })).rejects.toThrow(`Port ${port} on 127.0.0.1 is taken.`);
  await expect(sandbox.listen({ port: 70_000 })).rejects.toThrow(
    'listen: port must be an integer from 0 to 65535, got the number 70000.',
  );
  await new Promise((resolve) => other.close(resolve));
  await sandbox.listen({ port });
  expect(sandbox.url).toBe(`http://127.0.0.1:${port}`);
  await sandbox.close();
});

test('clientOptions have a fetch in process, and leave the client its own transport after listen()', async () => {
  const sandbox = createSandbox();
  expect(Object.keys(sandbox.clientOptions)).toEqual(['baseUrl', 'apiKey', 'fetch']);
  const early = new PaymentsClient(sandbox.clientOptions);
  await sandbox.listen();
  expect(Object.keys(sandbox.clientOptions)).toEqual(['baseUrl', 'apiKey']);
  const late = new PaymentsClient(sandbox.clientOptions);
  await early.products.create({ name: 'Mug', price: '19.90' });
  expect((await late.products.list()).items).toHaveLength(1);
  await sandbox.close();
});

test.each<['close' | 'reset', string]>([
  ['close', 'The sandbox was closed.'],
  ['reset', 'The sandbox was reset.'],
])('%s() during a delivery blames no receiver, neither a function nor a server', async (end, error) => {
  const server = createServer(() => undefined).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const address = server.address();
  const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
  for (const webhook of [url, () => new Promise<Response>(() => undefined)]) {
    const sandbox = createSandbox({ webhook });
    const paid = sandbox.trigger('order.paid');
    await (webhook === url ? once(server, 'request') : new Promise(setImmediate));
    await sandbox[end]();
    const { delivery } = await paid;
    expect(delivery).toMatchObject({ ok: false, error });
    expect(delivery?.hint).toBeUndefined();
    expect(JSON.stringify(sandbox.events)).not.toContain('"hint"');
  }
  server.closeAllConnections();
  server.close();
});
