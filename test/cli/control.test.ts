import { createSandbox, type SandboxOptions } from 'merchant-payments/sandbox';
import { describe, expect, onTestFinished, test } from 'vitest';
import { callCommand, testRefusals } from '../helpers/command.js';
import { listen } from '../helpers/receiver.js';

/** Starts a sandbox in this process, and returns a function that runs a command against it. */
async function startSandbox({ listening = {}, ...options }: SandboxOptions & { listening?: object } = {}) {
  const sandbox = await createSandbox(options).listen(listening);
  onTestFinished(() => sandbox.close());
  const run = (...args: string[]) => callCommand(args, { SANDBOX_URL: sandbox.url });
  return { sandbox, run };
}

/** A receiver that responds with one status. */
async function serveStatus(status: number) {
  const receiver = await listen(() => ({ status }));
  onTestFinished(() => receiver.close());
  return receiver;
}

testRefusals([
  [['trigger', 'order.refunded'], '"order.refunded" is not a type of event. Known are order.paid.'],
  [['trigger', '--amount', '0'], '--amount "0" is below'],
  [['deliver', ''], 'The event id is empty. Pass one, or leave it out.'],
  [['advance'], 'The duration is missing. Pass one, such as: advance 2h'],
  [['advance', 'later'], '"later" is not a duration.'],
  [['advance', '999999999d'], '"999999999d" is too long. Pass at most "36500d".'],
  [['advance', '5'], '"5" has no unit. Pass "5s" for seconds'],
  [['reset', '--sandbox', 'http://127.0.0.1:1'], 'No sandbox responds at http://127.0.0.1:1.', { status: 1 }],
  [['reset', '--sandbox', 'sandbox'], '--sandbox "sandbox" is not an http: URL.'],
  [['reset', '--token', 'shared\nshared'], '--token: pass the access token as the sandbox printed it.'],
]);

describe('merchant-payments trigger', () => {
  test('makes a paid order of that amount, and tells what the webhook got', async () => {
    const receiver = await serveStatus(200);
    const { run } = await startSandbox({ webhook: receiver.url });
    const { status, stdout } = await run('trigger', 'order.paid', '--amount', '7.5', '--currency', 'USD');
    expect(stdout).toMatch(
      /^Order ord_\w{20} of 7\.50 USD is paid\.\nWebhook to http:\S+\/webhooks: 200 in \d+ ms\.\n$/,
    );
    expect(status).toBe(0);
    expect(receiver.received[0]?.body.toString()).toContain('"amount": "7.50"');
  });

  test('exits with 1 if the webhook was refused, and says why', async () => {
    const { sandbox, run } = await startSandbox({ webhook: (await serveStatus(404)).url });
    const { status, stdout } = await run('trigger');
    expect(stdout).toContain('There is no route for /webhooks, or the handler there refuses.');
    expect(stdout).toContain(`npx merchant-payments doctor --sandbox ${sandbox.url}`);
    expect(status).toBe(1);
  });

  test('says how to send a webhook that is held', async () => {
    const { run } = await startSandbox({ webhook: () => new Response(), webhooks: 'manual' });
    expect((await run('trigger')).stdout).toContain(
      'Its webhook is held. Send it with: merchant-payments deliver\n',
    );
  });
});

describe('merchant-payments deliver', () => {
  test('sends what is held, or one event again by its id or its order', async () => {
    const { url } = await serveStatus(200);
    const { sandbox, run } = await startSandbox({ webhook: url, webhooks: 'manual' });
    expect(await run('deliver')).toMatchObject({ status: 0, stdout: 'No event is held or due.\n' });
    await sandbox.trigger('order.paid');
    const sent = new RegExp(`^Webhook to ${url}: 200 in \\d+ ms\\.\n$`);
    expect((await run('deliver')).stdout).toMatch(sent);
    const [{ id, data } = { id: '', data: { order_id: '' } }] = sandbox.events;
    for (const name of [id, data.order_id]) expect((await run('deliver', name)).stdout).toMatch(sent);
    expect(await run('deliver', 'evt_none')).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('There is no event "evt_none"'),
    });
  });

  test('says when an event is retried', async () => {
    const { sandbox, run } = await startSandbox({ webhook: (await serveStatus(500)).url });
    await sandbox.trigger('order.paid');
    expect((await run('deliver')).stdout).toMatch(
      /^No event is held\. 1 event is retried in \d+ s: `deliver ord_\w+` sends it now\.\n$/,
    );
  });
});

test('merchant-payments advance moves the clock, and settles what is due', async () => {
  const { sandbox, run } = await startSandbox();
  await sandbox.trigger('order.paid');
  expect((await run('advance', '1d')).stdout).toMatch(/^It is \d{4}-\d\d-\d\d [\d:]{8} in the sandbox\.\n$/);
  expect(sandbox.balance).toMatchObject({ available: '19.90', pending: '0.00' });
});

test('merchant-payments reset empties the sandbox', async () => {
  const { sandbox, run } = await startSandbox();
  await sandbox.trigger('order.paid');
  expect((await run('reset', '--json')).stdout).toMatch(/^\{"now":".*"\}\n$/);
  expect(sandbox).toMatchObject({ orders: [], products: [] });
});

test('a sandbox that other machines can reach asks commands for its access token', async () => {
  const { sandbox, run } = await startSandbox({ listening: { host: '0.0.0.0', accessToken: 'shared' } });
  const url = `http://127.0.0.1:${new URL(sandbox.url).port}`;
  expect((await run('reset', '--sandbox', url)).stderr).toContain('requires its access token');
  expect(await run('reset', '--sandbox', url, '--token', 'another')).toEqual({
    status: 1,
    stdout: '',
    stderr: `The sandbox at ${url} does not accept this access token. Pass --token with the one that it printed, or set SANDBOX_TOKEN.\n`,
  });
  expect((await run('reset', '--sandbox', url, '--token', 'shared')).status).toBe(0);
});
