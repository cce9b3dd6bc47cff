import {
  type CallOptions,
  ConfigurationError,
  PaymentsClient,
  type PaymentsClientOptions,
} from 'merchant-payments';
import { describe, expect, test } from 'vitest';
import { succeed } from '../helpers/bodies.js';
import { canaryKey, traces } from '../helpers/canary.js';
import { FaultyServer } from '../helpers/faulty-server.js';
import { call, carriers, clientOf, methods, settle, watch } from '../helpers/meeting.js';

watch();

const baseUrl = 'https://api.shop.example';

/** Returns the constructor's error; options that no type allows come in as a JavaScript caller may write them. */
function refusal(options: object): string {
  const given: PaymentsClientOptions = Object.assign({ apiKey: canaryKey, baseUrl }, options);
  try {
    new PaymentsClient(given);
  } catch (error) {
    expect(error).toBeInstanceOf(ConfigurationError);
    expect(error).toMatchObject({ code: 'configuration_error', outcome: 'not_sent', attempts: 0 });
    expect(traces(error)).toEqual([]);
    return String(error);
  }
  throw new Error('the options were accepted');
}

describe('a limit that no timer can hold is refused, in the options and in a call', () => {
  const limits = [0, -1, Number.NaN, Infinity, 2 ** 31, '20', null];
  test.each(limits)('%s', async (value) => {
    for (const name of ['timeoutMs', 'totalTimeoutMs']) {
      expect(refusal({ [name]: value })).toContain(name);
      const options = Object.assign({}, { [name]: value });
      const { error } = await settle(clientOf('http', baseUrl).balance.retrieve(options));
      expect(error).toMatchObject({ name: 'InvalidParamsError', issues: [{ path: `options.${name}` }] });
    }
  });

  test('an attempt that is longer than the call', () => {
    expect(refusal({ timeoutMs: 2_000, totalTimeoutMs: 1_000 })).toMatch(
      /timeoutMs.+2000.+totalTimeoutMs.+1000/,
    );
    expect(() => new PaymentsClient({ apiKey: 'key', baseUrl, totalTimeoutMs: 1_000 })).not.toThrow();
  });
});

describe('a key that cannot be one is refused and not quoted', () => {
  const keys = {
    'that is empty': '',
    'with a blank': `${canaryKey} ${canaryKey}`,
    'with a line feed at its end': `${canaryKey}\n`,
    'with CR and LF': `${canaryKey}\r\nx-evil: 1`,
    'with NUL': `${canaryKey}\0`,
    'with a tab': `\t${canaryKey}`,
    'beyond ASCII': `${canaryKey}é`,
    'that is a number': 42,
    'that is null': null,
    'that is an object': { key: canaryKey },
  };
  test.each(Object.entries(keys))('%s', (_title, apiKey) => {
    expect(refusal({ apiKey })).toContain('apiKey');
  });

  test('that is missing', () => {
    expect(refusal({ apiKey: undefined })).toMatch(/apiKey is missing.+PAYMENTS_API_KEY/);
  });
});

test.each(carriers)('over %s a key of any shape is sent as it is', async (carrier) => {
  const keys = ['service_live_1', 'staging:9', '~', canaryKey];
  const server = await FaultyServer.start(succeed);
  for (const apiKey of keys) await call(clientOf(carrier, server.url, { apiKey }), 'GET');
  const sent = server.requests.map(({ headers }) => headers.find((line) => line.startsWith('x-api-key')));
  expect(sent).toEqual(keys.map((key) => `x-api-key: ${key}`));
  await server.close();
});

test.each(carriers)(
  'over %s a path in baseUrl is kept, with or without a slash at its end',
  async (carrier) => {
    const server = await FaultyServer.start(succeed);
    const prefixes = ['', '/', '/pay', '/pay/', '/a/b%20c'];
    for (const prefix of prefixes) await call(clientOf(carrier, server.url + prefix), 'GET');
    const paths = ['/v1/balance', '/v1/balance', '/pay/v1/balance', '/pay/v1/balance', '/a/b%20c/v1/balance'];
    expect(server.requests.map(({ target }) => target)).toEqual(paths);
    await server.close();
  },
);

describe('an invalid baseUrl is refused with the fix', () => {
  const secret = 'hunter2hunter2';
  const urls: [string, RegExp][] = [
    [`${baseUrl}/v1`, /v1.+adds/],
    [`${baseUrl}/pay/v1/`, /v1.+adds/],
    [`https://user:${secret}@api.shop.example`, /credentials/],
    [`https://user@api.shop.example`, /credentials/],
    [`${baseUrl}?key=${secret}`, /query/],
    [`${baseUrl}?`, /query/],
    [`${baseUrl}#${secret}`, /hash/],
    [`${baseUrl}#`, /hash/],
    [` ${baseUrl}`, /white space/],
    [`${baseUrl}/\n`, /white space/],
    ['api.shop.example', /absolute URL/],
    ['//api.shop.example', /absolute URL/],
    ['ftp://api.shop.example', /ftp:.+https:/],
    ['file:///etc/passwd', /https:/],
    ['javascript:alert(1)', /https:/],
    ['http://api.shop.example', /clear text.+allowInsecureHttp/],
    ['http://localhost.evil.com', /clear text/],
    ['http://127.0.0.1.nip.io', /clear text/],
    ['http://evil.com:80/localhost', /clear text/],
    ['http://[::2]', /clear text/],
    ['http://10.0.0.1', /clear text/],
    ['http://0.0.0.0', /clear text/],
    ['', /PAYMENTS_BASE_URL/],
  ];
  test.each(urls)('%j', (url, way) => {
    const text = refusal({ baseUrl: url });
    expect(text).toMatch(way);
    expect(text).not.toContain(secret);
  });

  const loopback = [
    'http://localhost',
    'http://shop.localhost:3000',
    'http://127.0.0.1',
    'http://127.1',
    'http://127.9.9.9',
    'http://[::1]:80',
  ];
  test.each(loopback)('%s is this machine and taken', (url) => {
    expect(() => clientOf('http', url)).not.toThrow();
  });

  test('http to another machine is taken where it is allowed', () => {
    expect(() => clientOf('http', 'http://api.shop.example', { allowInsecureHttp: true })).not.toThrow();
  });
});

describe('certificates are always checked', () => {
  const names = ['rejectUnauthorized', 'insecure', 'ca', 'agent', 'tls', 'dispatcher'];
  test.each(names)('%s is no option', (name) => {
    expect(refusal({ [name]: false })).toContain(name);
  });
});

describe('a header that the client sets, or that no header can be, is refused and not quoted', () => {
  const headers: [string, unknown][] = [
    ['X-API-Key', 'other'],
    ['Content-Type', 'text/plain'],
    ['host', 'evil.example'],
    ['content-length', '0'],
    ['transfer-encoding', 'chunked'],
    ['x-a', `1\r\nx-evil: ${canaryKey}`],
    ['x-a', `${canaryKey}\0`],
    ['x-a', 7],
    ['x a', '1'],
    ['x-a\r\nx-b', '1'],
    ['x-a:', '1'],
    ['', '1'],
  ];
  test.each(headers)('%j: %j', async (name, value) => {
    expect(refusal({ headers: { [name]: value } })).toContain('headers');
    for (const method of methods) {
      const options: CallOptions = Object.assign(
        {},
        JSON.parse(JSON.stringify({ headers: { [name]: value } })),
      );
      const client = clientOf('http', baseUrl);
      const { error } = await settle(client.request({ method, path: '/v1/balance' }, options));
      expect(error).toMatchObject({ name: 'InvalidParamsError', outcome: 'not_sent', attempts: 0 });
      expect(traces(error)).toEqual([]);
    }
  });
});
