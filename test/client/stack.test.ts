import { InvalidParamsError, type PaymentsClient } from 'merchant-payments';
import { beforeEach, expect, test, vi } from 'vitest';
import list from '../fixtures/product-list.json' with { type: 'json' };
import { carriers, createClient, jsonResponse, mockService } from '../helpers/service.js';

const service = mockService();
beforeEach(() => {
  vi.spyOn(Math, 'random').mockReturnValue(0);
});

const params = { name: 'Mug', price: '5.00' };

/** Each way to call the service, in a function whose name its error's stack must show. */
const calls: Record<string, (payments: PaymentsClient) => Promise<unknown>> = {
  async productsCreate(payments) {
    return await payments.products.create(params);
  },
  async productsUpdate(payments) {
    return await payments.products.update('prod_1', params);
  },
  async productsList(payments) {
    return await payments.products.list();
  },
  async productsLoop(payments) {
    for await (const _ of payments.products.list());
  },
  async productsLoopAhead(payments) {
    for await (const _ of payments.products.list({}, { prefetch: 4 }));
  },
  async productsArray(payments) {
    return await payments.products.list().toArray({ limit: 5 });
  },
  async checkoutsCreate(payments) {
    return await payments.checkouts.create({ productId: 'prod_1' });
  },
  async checkoutsRetrieve(payments) {
    return await payments.checkouts.retrieve('cs_1');
  },
  async balanceRetrieve(payments) {
    return await payments.balance.retrieve();
  },
  async rawRequest(payments) {
    return await payments.request({ method: 'GET', path: '/v1/balance' });
  },
  async withResponse(payments) {
    return await payments.balance.retrieve().withResponse();
  },
};

async function stackOf(call: Promise<unknown>): Promise<string | undefined> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  return error instanceof Error ? error.stack : undefined;
}

/** A service that answers every operation with this status. */
function respondWith(status: number): void {
  for (const [method, path] of [
    ['POST', '/v1/products'],
    ['GET', '/v1/products'],
    ['PATCH', '/v1/products/:id'],
    ['POST', '/v1/checkouts'],
    ['GET', '/v1/checkouts/:id'],
    ['GET', '/v1/balance'],
  ])
    service.on(`${method} ${path}`, jsonResponse({}, status));
}

test.each(
  carriers.flatMap(([carrier, options]) =>
    Object.keys(calls).map((name) => [carrier, name, options] as const),
  ),
)(
  'over %s, the stack of an error shows the line of %s: refused, and after retries',
  async (_, name, options) => {
    const call = calls[name];
    for (const status of [401, 429]) {
      respondWith(status);
      expect(await stackOf(call?.(createClient(options)) ?? Promise.resolve())).toContain(`at ${name} `);
    }
  },
);

test('the stack has at most one line of the package before that of the caller, however deep a failure was met', async () => {
  respondWith(401);
  const { stackTraceLimit } = Error;
  // One line of the package, those of Node's queues of promises and timers, and that of the caller.
  Error.stackTraceLimit = 8;
  const { balanceRetrieve } = calls;
  const stack = await stackOf(balanceRetrieve?.(createClient()) ?? Promise.resolve());
  Error.stackTraceLimit = stackTraceLimit;
  const lines = stack?.split('\n    at ').filter((line) => !line.includes('node:internal')) ?? [];
  expect(lines[2]).toMatch(/^(?:async )?balanceRetrieve /);
});

test('the stack shows the line of a loop whose third page fails', async () => {
  service.on('GET /v1/products', ({ query }) => {
    const page = Number(query.page ?? 1);
    const pagination = { page, size: 2, total: 10, totalPages: 5 };
    const data = { items: list.data.items, pagination };
    return page === 3 ? jsonResponse({}, 503)() : jsonResponse({ code: 0, message: 'success', data })();
  });
  const { productsLoop, productsLoopAhead } = calls;
  expect(await stackOf(productsLoop?.(createClient()) ?? Promise.resolve())).toContain('at productsLoop ');
  const ahead = productsLoopAhead?.(createClient()) ?? Promise.resolve();
  expect(await stackOf(ahead)).toContain('at productsLoopAhead ');
});

test('the stack shows the line of a loop whose page failed while it was busy with the page before', async () => {
  const pagination = { page: 1, size: 2, total: 10, totalPages: 5 };
  const data = { items: list.data.items, pagination };
  service.on('GET /v1/products', jsonResponse({ code: 0, message: 'success', data }), jsonResponse({}, 401));
  async function busyLoop() {
    for await (const _ of createClient().products.list({}, { prefetch: 2 })) {
      await new Promise((resolve) => setTimeout(resolve, 50));
    }
  }
  expect(await stackOf(busyLoop())).toContain('at busyLoop ');
});

test('the stack shows the line of nextPage()', async () => {
  const pagination = { page: 1, size: 2, total: 10, totalPages: 5 };
  const data = { items: list.data.items, pagination };
  service.on('GET /v1/products', jsonResponse({ code: 0, message: 'success', data }), jsonResponse({}, 401));
  const page = await createClient().products.list();
  async function theNextPage() {
    return await page.nextPage();
  }
  expect(await stackOf(theNextPage())).toContain('at theNextPage ');
});

test('the stack shows the line of a call that was refused before it was sent', async () => {
  async function createInvalid() {
    return await createClient().products.create({ name: '', price: '0' }, { maxRetries: -1 });
  }
  await expect(createInvalid()).rejects.toBeInstanceOf(InvalidParamsError);
  expect(await stackOf(createInvalid())).toContain('at createInvalid ');
});

test('the stack shows the line of a call that reached nobody, or took too long', async () => {
  const rejectConnection = () => Promise.reject(Object.assign(new Error('x'), { code: 'ECONNREFUSED' }));
  const payments = createClient({ fetch: rejectConnection, maxRetries: 1 });
  async function callUnreachable() {
    return await payments.balance.retrieve();
  }
  expect(await stackOf(callUnreachable())).toContain('at callUnreachable ');
  const slow = createClient({ fetch: () => new Promise<Response>(() => {}), timeoutMs: 5, maxRetries: 0 });
  async function callPastLimit() {
    return await slow.balance.retrieve();
  }
  expect(await stackOf(callPastLimit())).toContain('at callPastLimit ');
});
