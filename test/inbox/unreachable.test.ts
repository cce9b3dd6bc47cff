import { format } from 'node:util';
import { expect, it, vi } from 'vitest';
import { openInbox } from '../../src/inbox/index.js';
import { deferCleanup } from './inboxes.js';

it('without a database the first line on stderr says what failed, and when it is tried again', async () => {
  const error = vi.spyOn(console, 'error').mockReturnValue();
  const inbox = openInbox({
    pool: { connect: () => Promise.reject(new Error('connect ECONNREFUSED 127.0.0.1:5432')) },
    secret: 'whsec_merchant_test_7Qm2xV9c',
    on: { 'order.paid': () => {} },
  });
  deferCleanup(() => inbox.close());
  await vi.waitFor(() => expect(error).toHaveBeenCalledTimes(2), { timeout: 5000 });
  const lines = error.mock.calls.map((call) => format(...call).split('\n')[0]);
  const messageOf = (s: number) =>
    `The inbox cannot look for due deliveries, and tries again in ${s} s: Error: connect ECONNREFUSED 127.0.0.1:5432`;
  expect(lines).toEqual([messageOf(1), messageOf(2)]);
});
