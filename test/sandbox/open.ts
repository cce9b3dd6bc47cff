import { createSandbox, type Sandbox, type SandboxOptions } from 'merchant-payments/sandbox';

export const mug = { name: 'Mug', price: '19.90' };

/** A sandbox and a bare caller of its API, without the client. */
export function open(options: SandboxOptions = {}) {
  const sandbox = createSandbox(options);
  return { sandbox, call: caller(sandbox) };
}

export function caller(sandbox: Sandbox, send: typeof fetch = sandbox.fetch.bind(sandbox)) {
  return async (method: string, path: string, body?: unknown, headers: Record<string, string> = {}) => {
    const response = await send(sandbox.url + path, {
      method,
      headers: { 'x-api-key': sandbox.apiKey, 'content-type': 'application/json', ...headers },
      ...(body === undefined ? {} : { body: typeof body === 'string' ? body : JSON.stringify(body) }),
    });
    const text = await response.text();
    return {
      status: response.status,
      headers: response.headers,
      text,
      body: text === '' ? undefined : JSON.parse(text),
    };
  };
}

/** A product and an open checkout for it. */
export async function checkout(sandbox: Sandbox, fields: object = {}, product: object = mug) {
  const call = caller(sandbox);
  const { data } = (await call('POST', '/v1/products', product)).body;
  const made = await call('POST', '/v1/checkouts', { productId: data.id, ...fields });
  const [, id = ''] = /\/pay\/(\w+)$/.exec(made.body.data.url) ?? [];
  return { id, url: String(made.body.data.url), productId: String(data.id) };
}
