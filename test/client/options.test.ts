import { inspect } from 'node:util';
import { ConfigurationError, PaymentsClient, type PaymentsClientOptions } from 'merchant-payments';
import { beforeEach, describe, expect, test, vi } from 'vitest';
import balance from '../fixtures/balance.json' with { type: 'json' };
import { apiKey, baseUrl, carriers, createClient, jsonResponse, mockService } from '../helpers/service.js';

const service = mockService();

beforeEach(() => {
  vi.stubEnv('PAYMENTS_API_KEY', undefined);
  vi.stubEnv('PAYMENTS_BASE_URL', undefined);
});

/** Returns the constructor's message about invalid options. JavaScript callers can pass anything. */
function refusal(options: unknown, base: object = { apiKey, baseUrl }): string {
  const whole: PaymentsClientOptions = { ...base };
  try {
    new PaymentsClient(Object.assign(whole, options));
  } catch (error) {
    if (!(error instanceof ConfigurationError)) throw error;
    expect(error).toMatchObject({
      name: 'ConfigurationError',
      code: 'configuration_error',
      outcome: 'not_sent',
    });
    const said = inspect(error, { depth: null, showHidden: true }) + JSON.stringify(error) + error.stack;
    expect(said).not.toContain(apiKey);
    return error.message.replace(/^new PaymentsClient\(\): /, '');
  }
  throw new Error('the options were taken');
}

describe('apiKey', () => {
  test.each(['service_live_1', 'service_test_1', 'staging-0815', '~!#$%&', 'k'])(
    'takes any prefix: %s travels as it is',
    async (key) => {
      service.on('GET /v1/balance', jsonResponse(balance));
      await createClient({ apiKey: key }).balance.retrieve();
      expect(service.requests[0]?.headers.get('x-api-key')).toBe(key);
    },
  );

  test('comes from the environment when it is not passed', async () => {
    service.on('GET /v1/balance', jsonResponse(balance));
    vi.stubEnv('PAYMENTS_API_KEY', 'key-of-the-environment');
    await new PaymentsClient({ baseUrl }).balance.retrieve();
    await new PaymentsClient({ baseUrl, apiKey: 'key-of-the-call' }).balance.retrieve();
    expect(service.requests.map(({ headers }) => headers.get('x-api-key'))).toEqual([
      'key-of-the-environment',
      'key-of-the-call',
    ]);
  });

  test('is required', () => {
    expect(refusal({}, { baseUrl })).toBe('apiKey is missing. Pass it, or set PAYMENTS_API_KEY.');
    expect(refusal({ apiKey: undefined }, { baseUrl })).toBe(
      'apiKey is missing. Pass it, or set PAYMENTS_API_KEY.',
    );
    vi.stubEnv('PAYMENTS_API_KEY', '');
    expect(refusal({}, { baseUrl })).toBe('apiKey is empty. Pass it, or set PAYMENTS_API_KEY.');
  });

  const copyAgain =
    'apiKey contains white space, control or non-ASCII characters. Copy it again from the dashboard, without quotes or line breaks.';
  test.each([
    ['a blank before it', ` ${apiKey}`, copyAgain],
    ['a blank in it', `${apiKey} x`, copyAgain],
    ['a line feed after it', `${apiKey}\n`, copyAgain],
    ['CR and LF and a header', `${apiKey}\r\nx-evil: 1`, copyAgain],
    ['a NUL', `${apiKey}\0`, copyAgain],
    ['a no-break space', `${apiKey}\u00a0`, copyAgain],
    ['an accent', `${apiKey}é`, copyAgain],
    ['an emoji', `${apiKey}😀`, copyAgain],
    ['blanks alone', '  ', copyAgain],
    ['nothing', '', 'apiKey is empty. Pass it, or set PAYMENTS_API_KEY.'],
    ['a number', 5, 'apiKey is not a string. Pass the key from the dashboard, under Developer.'],
    ['an array', [apiKey], 'apiKey is not a string. Pass the key from the dashboard, under Developer.'],
    ['null', null, 'apiKey is not a string. Pass the key from the dashboard, under Developer.'],
    ['a function', () => apiKey, 'apiKey is not a string. Pass the key from the dashboard, under Developer.'],
  ])('with %s is refused and never quoted', (_, key, message) => {
    expect(refusal({ apiKey: key })).toBe(message);
  });

  const alone = 'apiKey is in quotes or <…>. Pass the key alone, as the dashboard shows it.';
  test.each(['"service_live_x"', "'service_live_x'", '`service_live_x`', '<API_KEY>'])(
    'of %s is refused: no key is in quotes or angle brackets',
    (key) => {
      expect(refusal({ apiKey: key })).toBe(alone);
    },
  );

  test.each(['"https://api.example"', "'https://api.example'", '<BASE_URL>'])(
    'beside a baseUrl of %s says what is wrong with that',
    (quoted) => {
      expect(refusal({ apiKey, baseUrl: quoted })).toBe('baseUrl is in quotes or <…>. Pass the URL alone.');
    },
  );

  test('may hold any visible ASCII otherwise', () => {
    for (const key of ['sk"1"x', "o'clock'", '<a', 'a>', '"'])
      expect(() => createClient({ apiKey: key })).not.toThrow();
  });

  test('of the environment is held to the same rules', () => {
    vi.stubEnv('PAYMENTS_API_KEY', `${apiKey}\n`);
    expect(refusal({}, { baseUrl })).toBe(copyAgain);
  });
});

describe('baseUrl', () => {
  /** Returns the URL that a client with these options requests. */
  async function target(options: PaymentsClientOptions): Promise<string> {
    let url = '';
    const fetch = async (input: RequestInfo | URL) => {
      url = new Request(input).url;
      return Response.json(balance);
    };
    await new PaymentsClient({ apiKey, fetch, ...options }).balance.retrieve();
    return url;
  }

  test.each([
    ['https://api.example', 'https://api.example/v1/balance'],
    ['https://api.example/', 'https://api.example/v1/balance'],
    ['https://api.example/pay', 'https://api.example/pay/v1/balance'],
    ['https://api.example/pay/', 'https://api.example/pay/v1/balance'],
    ['https://api.example/a/b//', 'https://api.example/a/b/v1/balance'],
    ['https://api.example:8443/a', 'https://api.example:8443/a/v1/balance'],
    ['HTTPS://API.EXAMPLE', 'https://api.example/v1/balance'],
    ['https://api.example/v1/pay', 'https://api.example/v1/pay/v1/balance'],
    ['https://api.example/v1beta', 'https://api.example/v1beta/v1/balance'],
    ['https://api.example/dev1', 'https://api.example/dev1/v1/balance'],
    ['http://localhost:3000', 'http://localhost:3000/v1/balance'],
    ['http://shop.localhost', 'http://shop.localhost/v1/balance'],
    ['http://127.0.0.1:8080', 'http://127.0.0.1:8080/v1/balance'],
    ['http://127.1', 'http://127.0.0.1/v1/balance'],
    ['http://127.255.255.254', 'http://127.255.255.254/v1/balance'],
    ['http://[::1]:3000', 'http://[::1]:3000/v1/balance'],
  ])('%s leads to %s', async (base, expected) => {
    expect(await target({ baseUrl: base })).toBe(expected);
  });

  test.each(carriers)('keeps its path prefix over %s', async (_, options) => {
    service.on('GET /v1/balance', jsonResponse(balance));
    await new PaymentsClient({ ...options, apiKey, baseUrl: `${baseUrl}/` }).balance.retrieve();
    expect(service.requests).toMatchObject([{ path: '/v1/balance' }]);
  });

  test('comes from the environment when it is not passed', async () => {
    vi.stubEnv('PAYMENTS_BASE_URL', 'https://env.example/');
    expect(await target({})).toBe('https://env.example/v1/balance');
    expect(await target({ baseUrl: 'https://call.example' })).toBe('https://call.example/v1/balance');
  });

  const missing = 'baseUrl is missing. Pass it, or set PAYMENTS_BASE_URL.';
  const notAbsolute = 'baseUrl is not an absolute URL. Pass one such as "https://api.example".';
  const blank = 'baseUrl contains white space or control characters. Remove them.';
  const credentials = 'baseUrl contains credentials. Remove them: the key is sent in x-api-key.';
  const v1 = 'baseUrl ends in /v1, which the client adds. Remove it.';
  test.each<[unknown, string]>([
    [undefined, missing],
    ['', missing],
    ['api.example', notAbsolute],
    ['/pay', notAbsolute],
    ['//api.example', notAbsolute],
    ['https://', notAbsolute],
    ['https:/api.example', notAbsolute],
    ['https:api.example', notAbsolute],
    ['https:///api.example', notAbsolute],
    ['https:\\\\api.example', notAbsolute],
    ['localhost:3000', notAbsolute],
    ['api.example:443/pay', notAbsolute],
    [' https://api.example', blank],
    ['https://api.example ', blank],
    ['https://api.example\n', blank],
    ['https://api\t.example', blank],
    [5, notAbsolute],
    [null, notAbsolute],
    [{ href: 'https://api.example' }, notAbsolute],
    ['https://user:hunter2@api.example', credentials],
    ['https://hunter2@api.example', credentials],
    ['http://localhost@evil.example', credentials],
    ['https://api.example?a=1', 'baseUrl has a query. Remove it.'],
    ['https://api.example/?', 'baseUrl has a query. Remove it.'],
    ['https://api.example#top', 'baseUrl has a hash. Remove it.'],
    ['https://api.example/#', 'baseUrl has a hash. Remove it.'],
    ['ftp://api.example', 'baseUrl has the scheme ftp:. Pass an https: URL.'],
    ['ws://api.example', 'baseUrl has the scheme ws:. Pass an https: URL.'],
    ['file:///etc', 'baseUrl has the scheme file:. Pass an https: URL.'],
    ['https://api.example/v1', v1],
    ['https://api.example/v1/', v1],
    ['https://api.example/pay/v1//', v1],
  ])('%o is refused with the fix', (url, message) => {
    expect(refusal({ baseUrl: url })).toBe(message);
  });

  test('with credentials is refused without a word of them', () => {
    expect(refusal({ baseUrl: 'https://user:hunter2@api.example' })).not.toMatch(/hunter2|user/);
  });

  test.each([
    'api.example',
    'localhost.evil.com',
    '127.0.0.1.nip.io',
    '192.168.1.5',
    '0.0.0.0',
    '[::2]',
    'localhos',
  ])('http to %s is refused, and taken with allowInsecureHttp', async (host) => {
    expect(refusal({ baseUrl: `http://${host}` })).toBe(
      `baseUrl is http: to ${host}, so the API key would be sent in clear text. Use https:, or pass allowInsecureHttp: true.`,
    );
    expect(await target({ baseUrl: `http://${host}`, allowInsecureHttp: true })).toBe(
      `http://${host}/v1/balance`,
    );
  });

  test('may be a URL object, which is held to the same rules', async () => {
    expect(await target({ baseUrl: new URL('https://api.example/pay/') })).toBe(
      'https://api.example/pay/v1/balance',
    );
    expect(refusal({ baseUrl: new URL('https://api.example/v1') })).toBe(v1);
    expect(refusal({ baseUrl: new URL('https://user:hunter2@api.example') })).toBe(credentials);
  });

  test('the ports in use for HTTP are taken', async () => {
    for (const port of [3000, 4010, 8080, 8443, 65535]) {
      expect(await target({ baseUrl: `https://api.example:${port}` })).toContain(`:${port}/`);
    }
  });
});

describe('numbers', () => {
  const milliseconds = 'must be a number of milliseconds above 0, at most 2147483647.';
  test.each(['timeoutMs', 'totalTimeoutMs'])('%s must be a valid time', (name) => {
    for (const value of [0, -1, Number.NaN, Number.POSITIVE_INFINITY, 2 ** 31, '1000', null, 5n]) {
      expect(refusal({ [name]: value })).toBe(`${name} ${milliseconds}`);
    }
    expect(() => createClient({ totalTimeoutMs: 2 ** 31 - 1, [name]: 2 ** 31 - 1 })).not.toThrow();
    expect(() => createClient({ [name]: 1 })).not.toThrow();
  });

  test('maxRetries must be an integer from 0 to 100', () => {
    for (const value of [-1, 1.5, Number.NaN, Number.POSITIVE_INFINITY, 101, '2', null, true]) {
      expect(refusal({ maxRetries: value })).toContain('maxRetries must be an integer from 0 to 100, got');
    }
    for (const value of [0, 1, 100]) expect(() => createClient({ maxRetries: value })).not.toThrow();
  });

  test('timeoutMs may not be more than totalTimeoutMs where both are given', () => {
    expect(refusal({ timeoutMs: 2000, totalTimeoutMs: 1000 })).toBe(
      'timeoutMs (2000) is more than totalTimeoutMs (1000), which ends the call first. Raise totalTimeoutMs too.',
    );
    expect(() => createClient({ timeoutMs: 1000, totalTimeoutMs: 1000 })).not.toThrow();
  });

  // The default limit of the other one gives way: 20 seconds for an attempt, 60 for a call.
  test.each([
    [{}, 20_000, 60_000],
    [{ timeoutMs: 90_000 }, 90_000, 90_000],
    [{ timeoutMs: 5_000 }, 5_000, 60_000],
    [{ totalTimeoutMs: 1_000 }, 1_000, 1_000],
    [{ totalTimeoutMs: 90_000 }, 20_000, 90_000],
    [{ timeoutMs: 30_000, totalTimeoutMs: 40_000 }, 30_000, 40_000],
  ])('%j ends an attempt after %i ms, and a call after %i ms', async (limits, attemptMs, totalMs) => {
    vi.useFakeTimers();
    vi.spyOn(Math, 'random').mockReturnValue(0);
    const fetch = () => new Promise<Response>(() => {});
    for (const client of [createClient({ fetch, ...limits }), createClient({ fetch })]) {
      let left: unknown;
      const began = performance.now();
      client.balance.retrieve({ maxRetries: 50, ...limits }).catch((error) => {
        left = { scope: error.scope, afterMs: Math.round(performance.now() - began) };
      });
      await vi.advanceTimersByTimeAsync(totalMs + 10);
      expect(left).toEqual({ scope: expect.any(String), afterMs: totalMs });
      let first: unknown;
      client.balance.retrieve({ maxRetries: 0, ...limits }).catch((error) => {
        first = Math.round(performance.now() - again);
        return error;
      });
      const again = performance.now();
      await vi.advanceTimersByTimeAsync(attemptMs + 10);
      expect(first).toBe(attemptMs);
    }
    vi.useRealTimers();
  });
});

describe.each(carriers)('headers over %s', (_, options) => {
  test('are added to every request', async () => {
    service.on('GET /v1/balance', jsonResponse(balance));
    const payments = createClient({
      ...options,
      headers: { 'X-Tenant': 'one', authorization: 'Basic eA==', empty: '' },
    });
    await payments.balance.retrieve();
    const sent = service.requests[0]?.headers;
    expect(sent?.get('x-tenant')).toBe('one');
    expect(sent?.get('authorization')).toBe('Basic eA==');
    expect(sent?.get('x-api-key')).toBe(apiKey);
  });

  test('take the place of the client’s own accept and user-agent', async () => {
    service.on('GET /v1/balance', jsonResponse(balance));
    const payments = createClient({
      ...options,
      headers: { Accept: 'application/vnd.x+json', 'User-Agent': 'mine' },
    });
    await payments.balance.retrieve();
    expect(service.requests[0]?.headers.get('accept')).toBe('application/vnd.x+json');
    expect(service.requests[0]?.headers.get('user-agent')).toBe('mine');
  });

  test('that are changed after the constructor change nothing', async () => {
    service.on('GET /v1/balance', jsonResponse(balance));
    const headers = { 'x-tenant': 'one' };
    const payments = createClient({ ...options, headers });
    headers['x-tenant'] = 'changed';
    await payments.balance.retrieve();
    expect(service.requests[0]?.headers.get('x-tenant')).toBe('one');
  });

  test('userAgent is appended to the package’s own', async () => {
    service.on('GET /v1/balance', jsonResponse(balance));
    await createClient({ ...options, userAgent: 'shop/1.2 (+https://shop.example)' }).balance.retrieve();
    expect(service.requests[0]?.headers.get('user-agent')).toMatch(
      /^merchant-payments\/\d+\.\d+\.\d+ shop\/1\.2 \(\+https:\/\/shop\.example\)$/,
    );
  });
});

test.each<[unknown, string]>([
  [{ 'x-api-key': 'other' }, 'headers.x-api-key is set by the client. Remove it.'],
  [{ 'X-API-Key': 'other' }, 'headers.X-API-Key is set by the client. Remove it.'],
  [{ 'Content-Type': 'text/plain' }, 'headers.Content-Type is set by the client. Remove it.'],
  [{ HOST: 'evil.example' }, 'headers.HOST is set by the client. Remove it.'],
  [{ 'content-length': '5' }, 'headers.content-length is set by the client. Remove it.'],
  [{ 'Transfer-Encoding': 'chunked' }, 'headers.Transfer-Encoding is set by the connection. Remove it.'],
  [{ 'x tenant': 'one' }, 'headers.x tenant is not a header name.'],
  [{ '': 'one' }, 'headers. is not a header name.'],
  [{ 'x-tenant': 'one\r\nx-evil: 1' }, 'headers.x-tenant must be visible ASCII without line breaks.'],
  [{ 'x-tenant': 'é' }, 'headers.x-tenant must be visible ASCII without line breaks.'],
  [{ 'x-tenant': ' one' }, 'headers.x-tenant must be visible ASCII without line breaks.'],
  [{ 'x-tenant': 5 }, 'headers.x-tenant must be visible ASCII without line breaks.'],
  [{ 'x-tenant': undefined }, 'headers.x-tenant must be visible ASCII without line breaks.'],
  [new Headers(), 'headers must be an object of string values.'],
  [[['x-tenant', 'one']], 'headers must be an object of string values.'],
  [null, 'headers must be an object of string values.'],
  ['x-tenant: one', 'headers must be an object of string values.'],
])('headers %o are refused', (headers, message) => {
  expect(refusal({ headers })).toBe(message);
});

test.each<[string, unknown, string]>([
  ['fetch', 'fetch', 'fetch is not a function.'],
  ['fetch', null, 'fetch is not a function.'],
  ['userAgent', 'shop\r\nx-evil: 1', 'userAgent must be an ASCII string without line breaks.'],
  ['userAgent', 'café', 'userAgent must be an ASCII string without line breaks.'],
  ['userAgent', 5, 'userAgent must be an ASCII string without line breaks.'],
  ['maxConnections', 0, 'maxConnections must be an integer from 1 to 65535, got the number 0.'],
  ['allowInsecureHttp', 'yes', 'allowInsecureHttp must be true or false.'],
  ['dangerouslyAllowBrowser', 1, 'dangerouslyAllowBrowser must be true or false.'],
  ['hooks', 'log', 'hooks must be an object of functions, got a string.'],
  ['hooks', null, 'hooks must be an object of functions, got null.'],
  ['hooks', { request: 'log' }, 'hooks.request must be a function, got a string.'],
  ['hooks', { reqest: () => {} }, 'hooks.reqest is unknown. Did you mean request?'],
  ['hooks', { finish: () => {} }, 'hooks.finish is unknown. Known are request, response, retry, error, end.'],
])('%s %o is refused', (name, value, message) => {
  expect(refusal({ [name]: value })).toBe(message);
});

describe('unknown options', () => {
  const known =
    'Known are apiKey, baseUrl, timeoutMs, totalTimeoutMs, maxRetries, headers, hooks, fetch, userAgent, allowInsecureHttp, maxConnections, dangerouslyAllowBrowser.';
  test.each([
    ['maxRetry', 'Did you mean maxRetries?'],
    ['apikey', 'Did you mean apiKey?'],
    ['api_key', 'Did you mean apiKey?'],
    ['baseURL', 'Did you mean baseUrl?'],
    ['base_url', 'Did you mean baseUrl?'],
    ['timeout', 'Did you mean timeoutMs?'],
    ['maxRetires', 'Did you mean maxRetries?'],
    ['defaultHeaders', 'Did you mean headers?'],
    ['secret', known],
  ])('%s is refused with the likely name', (name, hint) => {
    expect(refusal({ [name]: 'x' })).toBe(`${name} is unknown. ${hint}`);
  });

  test('of a polluted prototype are not options', () => {
    const polluted = { value: 5, configurable: true, enumerable: true, writable: true };
    Object.defineProperty(Object.prototype, 'timeoutMs', { ...polluted, value: -1 });
    Object.defineProperty(Object.prototype, 'colour', polluted);
    try {
      expect(() => createClient()).not.toThrow();
    } finally {
      Reflect.deleteProperty(Object.prototype, 'timeoutMs');
      Reflect.deleteProperty(Object.prototype, 'colour');
    }
  });
});

test('all problems come at once, each with its way out', () => {
  const options = { apikey: 'x', baseUrl: 'https://api.example/v1', timeoutMs: 0, maxRetries: -1, fetch: 1 };
  expect(refusal(options, {})).toBe(
    [
      'apiKey is missing. Pass it, or set PAYMENTS_API_KEY.',
      'baseUrl ends in /v1, which the client adds. Remove it.',
      'timeoutMs must be a number of milliseconds above 0, at most 2147483647.',
      'maxRetries must be an integer from 0 to 100, got the number -1.',
      'fetch is not a function.',
      'apikey is unknown. Did you mean apiKey?',
    ].join(' '),
  );
});

test.each([null, 5, 'key', [], () => {}])('options that are no object are refused: %o', (options) => {
  // @ts-expect-error JavaScript callers can pass anything
  expect(() => new PaymentsClient(options)).toThrow(
    new ConfigurationError('new PaymentsClient(): the options must be an object.'),
  );
});

describe('in a browser', () => {
  const inBrowser =
    'In a browser anybody can read the API key. Use it on a server, or pass dangerouslyAllowBrowser: true for a test key.';

  test('the constructor throws, unless dangerouslyAllowBrowser says otherwise', () => {
    vi.stubGlobal('window', { document: {} });
    expect(refusal({})).toBe(inBrowser);
    expect(refusal({ dangerouslyAllowBrowser: false })).toBe(inBrowser);
    expect(() => createClient({ dangerouslyAllowBrowser: true })).not.toThrow();
  });

  test('so it does in a web worker', () => {
    vi.stubGlobal('WorkerGlobalScope', class {});
    vi.stubGlobal('navigator', { userAgent: 'Mozilla/5.0 (X11; Linux x86_64) Firefox/145.0' });
    expect(refusal({})).toBe(inBrowser);
  });

  test.each(['Cloudflare-Workers', 'Deno/2.9.5', 'Bun/1.4.4', 'Node.js/20'])('%s is none', (userAgent) => {
    vi.stubGlobal('WorkerGlobalScope', class {});
    vi.stubGlobal('navigator', { userAgent });
    expect(() => createClient()).not.toThrow();
  });
});

describe('an instance of a class as options', () => {
  class StagingConfig {
    readonly #key = 'service_test_staging';
    get apiKey() {
      return this.#key;
    }
    get baseUrl() {
      return baseUrl;
    }
    get region() {
      return 'eu';
    }
  }

  test('has its accessors read, not the environment', async () => {
    vi.stubEnv('PAYMENTS_API_KEY', 'service_live_of_the_environment');
    vi.stubEnv('PAYMENTS_BASE_URL', 'https://live.example');
    service.on('GET /v1/balance', jsonResponse(balance));
    await new PaymentsClient(new StagingConfig()).balance.retrieve();
    expect(service.requests[0]?.headers.get('x-api-key')).toBe('service_test_staging');
  });

  test('has those of its parent read, and checked', () => {
    class Wrong extends StagingConfig {
      get maxRetries() {
        return -1;
      }
    }
    expect(() => new PaymentsClient(new Wrong())).toThrow('maxRetries must be an integer');
  });
});
