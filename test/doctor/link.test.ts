import { createServer, type RequestListener } from 'node:http';
import { createSandbox, type UnspecifiedChoices } from 'merchant-payments/sandbox';
import { afterEach, describe, expect, test } from 'vitest';
import { findLink } from '../../src/doctor/link.js';
import { eventLinks } from '../../src/sandbox/service/event.js';
import { Command } from './command.js';

const command = new Command();

/** The body of an event whose checkout really exists, and that sandbox listening. */
async function paid(unspecified: Partial<UnspecifiedChoices>) {
  const sandbox = await createSandbox({ unspecified }).listen();
  const { event } = await sandbox.trigger('order.paid');
  const [checkout] = sandbox.checkouts;
  return { sandbox, body: event.body, checkoutId: checkout?.id };
}

let close: (() => unknown) | undefined;
afterEach(() => close?.());

/** A service that responds in one way. */
async function service(respond: RequestListener): Promise<string> {
  const server = createServer(respond);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  close = () => {
    server.close();
    server.closeAllConnections();
  };
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`;
}

const forms = Object.keys(eventLinks).filter((name): name is keyof typeof eventLinks => name !== 'none');
const key = 'service_test_a1b2c3d4e5f6';

async function identify(body: string, env: NodeJS.ProcessEnv, ...flags: string[]) {
  command.write('event.json', body);
  const result = await command.run(['identify', '--body', 'event.json', '--link', ...flags], env);
  expect(result.stdout + result.stderr).not.toContain(env.PAYMENTS_API_KEY ?? key);
  return result;
}

describe('identify --link', () => {
  test('has ten forms to distinguish', () => {
    expect(forms.length).toBe(10);
  });

  test.each(forms)('names %s, and the sandbox option that does the same', async (eventLink) => {
    const { sandbox, body, checkoutId } = await paid({ eventLink });
    close = () => sandbox.close();
    const before = sandbox.requests.length;
    const env = { PAYMENTS_API_KEY: sandbox.apiKey, PAYMENTS_BASE_URL: sandbox.url };
    const { status, stdout } = await identify(body, env, '--json');
    expect(JSON.parse(stdout)).toMatchObject({
      found: true,
      field: eventLink === 'order_id' ? 'data.order_id' : eventLink,
      checkoutId,
      sandbox: eventLink,
      undocumented: eventLink === 'order_id' ? [] : [eventLink],
    });
    expect(status).toBe(0);
    const asked = sandbox.requests.slice(before).map(({ method, path }) => `${method} ${path}`);
    expect(asked.at(-1)).toBe(`GET /v1/checkouts/${checkoutId}`);
    expect(asked.length).toBeLessThanOrEqual(10);
  });

  test('invents none where nothing names the checkout', async () => {
    const { sandbox, body } = await paid({});
    close = () => sandbox.close();
    const env = { PAYMENTS_API_KEY: sandbox.apiKey, PAYMENTS_BASE_URL: sandbox.url };
    const { status, stdout } = await identify(body, env);
    expect(stdout).toMatch(/^✗ No field of this event names its checkout session: .*data\.order_id/);
    expect(status).toBe(1);
  });

  test('names as JSON the option that does the same: none where nothing is found, null where there is no such option', async () => {
    const { sandbox, body, checkoutId } = await paid({});
    close = () => sandbox.close();
    const env = { PAYMENTS_API_KEY: sandbox.apiKey, PAYMENTS_BASE_URL: sandbox.url };
    const { stdout } = await identify(body, env, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ found: false, sandbox: 'none' });
    const named = JSON.stringify({ ...JSON.parse(body), cart: checkoutId });
    const other = await identify(named, env, '--json');
    expect(JSON.parse(other.stdout)).toMatchObject({ found: true, field: 'cart', sandbox: null });
  });

  test.each<[string, string | undefined]>([
    ['{"data":{"checkout.id":"chk_a1b2c3d4"}}', 'data["checkout.id"]'],
    ['{"":"chk_a1b2c3d4"}', '[""]'],
    ['"chk_a1b2c3d4"', undefined],
  ])('names the field of %s as %s', async (body, field) => {
    const known = async () => ({ amount: '1.00', currency: 'USD' });
    expect((await findLink(Buffer.from(body), known)).field).toBe(field);
  });

  test('finds the id at the end of a URL, and in JSON that is a string', async () => {
    const session = { amount: '1.00', currency: 'USD' };
    const known = async (id: string) => (id === 'chk_a1b2c3d4' ? session : undefined);
    const event = (data: object) =>
      Buffer.from(
        JSON.stringify({
          type: 'order.paid',
          data: { order_id: 'ord_1', amount: '1.00', currency: 'USD', ...data },
        }),
      );
    expect(await findLink(event({ page: 'https://pay.example/c/chk_a1b2c3d4?x=1' }), known)).toMatchObject({
      field: 'data.page',
      checkoutId: 'chk_a1b2c3d4',
    });
    expect(await findLink(event({ metadata: '{"session":"chk_a1b2c3d4"}' }), known)).toMatchObject({
      field: 'data.metadata',
    });
  });

  test.each(['chk_abcdefghijklmnopqrst', 'chk_7', '0c8d1f7a-52f0-4a57-9c2e-0d5b1b6a8f11'])(
    'finds %s, whatever letters and digits it has',
    async (id) => {
      const asked: string[] = [];
      const session = { amount: '1.00', currency: 'USD' };
      for (const data of [{ checkout_id: id }, { reference: `checkout:${id}` }, { object: { id } }]) {
        const body = { type: 'order.paid', data: { order_id: 'ord_abcdefghij1234567890', ...data } };
        const { checkoutId } = await findLink(Buffer.from(JSON.stringify(body)), async (one) => {
          asked.push(one);
          return one === id ? session : undefined;
        });
        expect(checkoutId).toBe(id);
      }
      expect(asked.length).toBeLessThanOrEqual(9);
    },
  );

  test('asks ten times at most, and for nothing that is no id', async () => {
    const asked: string[] = [];
    const data = {
      order_id: 'ord_1',
      amount: '1.00',
      currency: 'USD',
      status: 'paid',
      email: 'anna1990@shop.example',
      paid_at: '2026-01-01T00:00:00Z',
      note: `${key}`,
      up: '..',
      ...Object.fromEntries(
        Array.from({ length: 20 }, (_, index) => [`field${index}`, `value_${index}000000`]),
      ),
      nested: [{ checkout_id: 'chk_1' }],
    };
    const result = await findLink(Buffer.from(JSON.stringify({ type: 'order.paid', data })), async (id) => {
      asked.push(id);
      return undefined;
    });
    expect(asked.length).toBe(10);
    for (const never of ['USD', '1.00', '..', 'order.paid', key, 'anna1990', data.paid_at])
      expect(asked).not.toContain(never);
    expect(result.notes.join()).toMatch(/\d+ more values were not tried/);
  });

  test('warns where the checkout that was found costs something else', async () => {
    const body =
      '{"type":"order.paid","data":{"order_id":"o","amount":"2.00","currency":"USD","checkout_id":"chk_1"}}';
    const { notes } = await findLink(Buffer.from(body), async () => ({ amount: '1.00', currency: 'USD' }));
    expect(notes.join()).toContain('differ from the event');
    const same = await findLink(Buffer.from(body), async () => ({ amount: '2.0', currency: 'USD' }));
    expect(same.notes.join()).not.toContain('differ');
  });

  const body = '{"type":"order.paid","data":{"order_id":"ord_12345678","amount":"1.00","currency":"USD"}}';

  test.each<[string, RequestListener, string]>([
    [
      'a refused key',
      (_, response) => response.writeHead(401).end(),
      'returned 401. The API key was refused',
    ],
    [
      'a redirect',
      (_, response) => response.writeHead(302, { location: '/elsewhere' }).end(),
      'returned 302, but the response cannot be used: it redirects to',
    ],
    ['a failure of the service', (_, response) => response.writeHead(503).end(), 'returned 503'],
    ['a web page', (_, response) => response.end('<html>'), 'not valid JSON. Check PAYMENTS_BASE_URL.'],
    ['a connection that is closed', (request) => request.destroy(), 'got no response'],
  ])('tells %s from a checkout that is not there', async (_what, respond, words) => {
    const env = { PAYMENTS_API_KEY: key, PAYMENTS_BASE_URL: await service(respond) };
    expect(await identify(body, env)).toMatchObject({
      status: 1,
      stdout: '',
      stderr: expect.stringContaining(words),
    });
  });

  test('needs nothing of a checkout but its id', async () => {
    const found = JSON.stringify({ code: 0, message: 'success', data: { id: 'chk_a1b2c3d4' } });
    const base = await service((_, response) => response.end(found));
    const event = '{"type":"order.paid","data":{"order_id":"ord_1","checkout_id":"chk_a1b2c3d4"}}';
    const env = { PAYMENTS_API_KEY: key, PAYMENTS_BASE_URL: base };
    const { status, stdout } = await identify(event, env, '--json');
    expect(JSON.parse(stdout)).toMatchObject({ found: true, field: 'data.checkout_id' });
    expect(status).toBe(0);
  });

  test('says that no response came in time', async () => {
    const soon =
      'const { setTimeout } = globalThis; globalThis.setTimeout = (run, ms, ...more) => setTimeout(run, ms / 100, ...more);';
    const env = {
      PAYMENTS_API_KEY: key,
      PAYMENTS_BASE_URL: await service(() => {}),
      NODE_OPTIONS: `--import=data:text/javascript,${encodeURIComponent(soon)}`,
    };
    expect(await identify(body, env)).toMatchObject({
      status: 1,
      stderr: expect.stringContaining('timed out after 10000 ms'),
    });
  });

  test.each([200, 400, 404, 410, 422])('takes %s for a checkout that is not there', async (status) => {
    const env = {
      PAYMENTS_API_KEY: key,
      PAYMENTS_BASE_URL: await service((_, response) =>
        response.writeHead(status).end('{"code":1001,"message":"Unknown"}'),
      ),
    };
    expect(await identify(body, env)).toMatchObject({
      status: 1,
      stdout: expect.stringMatching(/^✗ No field/),
    });
  });

  test.each([
    [{ PAYMENTS_BASE_URL: 'http://127.0.0.1:1' }, 'Set PAYMENTS_API_KEY'],
    [{ PAYMENTS_API_KEY: key }, 'Set PAYMENTS_BASE_URL'],
    [
      { PAYMENTS_API_KEY: key, PAYMENTS_BASE_URL: 'http://203.0.113.7' },
      'PAYMENTS_BASE_URL is http: to 203.0.113.7, so the API key would be sent in clear text. Use https:.',
    ],
    [
      { PAYMENTS_API_KEY: key, PAYMENTS_BASE_URL: 'https://a:b@shop.example' },
      'PAYMENTS_BASE_URL contains credentials',
    ],
    [
      { PAYMENTS_API_KEY: key, PAYMENTS_BASE_URL: 'https://shop.example/v1' },
      'PAYMENTS_BASE_URL ends in /v1',
    ],
    [
      { PAYMENTS_API_KEY: `"${key}"`, PAYMENTS_BASE_URL: 'https://shop.example' },
      'PAYMENTS_API_KEY is in quotes',
    ],
  ])('refuses an environment that cannot work: %j', async (env, words) => {
    expect(await identify(body, env)).toMatchObject({ status: 1, stderr: expect.stringContaining(words) });
  });
});
