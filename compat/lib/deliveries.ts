// One delivery as it was signed and one that was changed, to a receiver whose function takes a moment.
import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { Server } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { handler, nodeHandler, sign } from 'merchant-payments/webhooks';

export const secret = 'whsec_of_the_frameworks';
export const rawBody = JSON.stringify({
  type: 'order.paid',
  data: { order_id: 'ord_1', amount: '10.00', currency: 'USD', note: 'Grüße' },
});
const fulfilled: string[] = [];
/** The receivers' reports since the last good delivery. */
export const errors: unknown[] = [];
const on = {
  'order.paid': async ({ data }: { data: { order_id: string } }) => {
    await wait(20); // a framework that does not wait would have responded by then
    fulfilled.push(data.order_id);
  },
};
const options = { secret, on, onError: (error: unknown) => errors.push(error) };
/** Returns a receiver of Fetch requests. */
export const newFetchReceiver = () => handler(options);
/** Returns a receiver of `node:http`. */
export const newNodeReceiver = () => nodeHandler(options);

/** Delivers once as signed and once changed, and ends the server. */
export async function receives(server: Server, path = '/webhooks'): Promise<void> {
  if (!server.listening) await once(server.listen(0, '127.0.0.1'), 'listening');
  try {
    const address = server.address();
    assert.ok(address !== null && typeof address === 'object');
    await receivesAt((init) => fetch(`http://127.0.0.1:${address.port}${path}`, init));
  } finally {
    server.close();
    server.closeAllConnections();
  }
}

export async function receivesAt(post: (init: RequestInit) => Promise<{ status: number }>): Promise<void> {
  fulfilled.length = errors.length = 0;
  const headers = { 'content-type': 'application/json', ...sign({ rawBody, secret }) };
  const good = await post({ method: 'POST', headers, body: rawBody });
  assert.equal(good.status, 200, errors.join('\n'));
  assert.deepEqual(fulfilled, ['ord_1']);
  const changed = await post({ method: 'POST', headers, body: rawBody.replace('10.00', '90.00') });
  assert.equal(changed.status, 400);
  assert.match(errors.join('\n'), /^WebhookVerificationError: The signature does not match/);
}
