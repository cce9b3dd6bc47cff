import { format } from 'node:util';
import { describe, expect, it, vi } from 'vitest';
import type { Duration } from '../../../src/input/duration.js';
import { sign } from '../../../src/webhooks/index.js';
import { orderPaid, withResolvers } from '../inboxes.js';
import { newPlace, openAt, waitForStates } from './places.js';

/** Collects what the default of onError would write to stderr, each call as its lines. */
function capturePrints() {
  const error = vi.spyOn(console, 'error').mockReturnValue();
  return () => error.mock.calls.map((call) => format(...call).split('\n'));
}

describe('the default onError', () => {
  it('names key, attempt and next attempt in its first line, and the stack below', async () => {
    const lines = capturePrints();
    const { inbox, post } = openAt({
      onError: undefined,
      retries: ['1h'],
      on: {
        'order.paid': () => {
          throw new Error('the mail server is down');
        },
      },
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect((await inbox.list())[0]?.nextAttemptAt).toBeTruthy());
    await vi.waitFor(async () => expect((await inbox.list())[0]?.lastError).toBeTruthy());
    const [[first = '', second = ''] = []] = lines();
    expect(first).toMatch(
      /^order\.paid:ord_1 failed in attempt 1, the next one follows at \d{4}-\S+Z: Error: the mail server is down$/,
    );
    expect(second).toMatch(/^ +at /);
    const next = Date.parse(/at (\S+Z)/.exec(first)?.[1] ?? '');
    expect(Math.abs(next - Date.now() - 3_600_000)).toBeLessThan(500_000);
  });

  it('has one line for each delivery that is parked, whatever the reason', async () => {
    const lines = capturePrints();
    const { inbox, post } = openAt({
      onError: undefined,
      retries: [],
      on: {
        'order.paid': (event) => {
          if (event.data.order_id === 'ord_2') throw new Error('no stock');
        },
      },
    });
    const bodies = {
      unknown: '{"type":"refund.created","data":{}}',
      unreadable: '{"type":"order.paid","data":{"order_id":7}}',
      first: orderPaid('ord_1'),
      conflict: orderPaid('ord_1').replace('19.90', '9.90'),
      last: orderPaid('ord_2'),
    };
    for (const body of Object.values(bodies)) expect(await post(body)).toMatchObject({ status: 200 });
    await waitForStates(inbox, ['done', 'parked']);
    await vi.waitFor(() => expect(lines()).toHaveLength(4));
    const firsts = lines().map(([first]) => first);
    expect(firsts).toContainEqual(
      expect.stringMatching(
        /^PaymentsError inbox_parked: There is no function for events of type "refund\.created"\. It is parked as "refund/,
      ),
    );
    expect(firsts).toContainEqual(expect.stringMatching(/invalid_event: .* parked as "invalid:/));
    expect(firsts).toContainEqual(
      expect.stringMatching(/conflicting_event: .* parked as "order\.paid:ord_1#/),
    );
    expect(firsts).toContainEqual('order.paid:ord_2 failed in attempt 1 and is parked: Error: no stock');
  });

  it.each<[retries: Duration[]]>([[['1h']], [[]]])(
    'names no next attempt and no parking if another process has taken the delivery over, with retries %j',
    async (retries) => {
      const lines = capturePrints();
      const { promise, resolve } = withResolvers();
      const place = newPlace();
      const { inbox, post } = openAt({
        place,
        onError: undefined,
        retries,
        on: { 'order.paid': () => promise.then(() => Promise.reject(new Error('late'))) },
      });
      await post(orderPaid('ord_1'));
      await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ running: 1 }));
      await place.run('UPDATE $inbox SET attempts = attempts + 1');
      resolve();
      await vi.waitFor(() => expect(lines()).toHaveLength(1));
      expect(lines()[0]?.[0]).toBe(
        'order.paid:ord_1 failed in attempt 1, after the delivery had been taken over: Error: late',
      );
    },
  );

  it('has id, code and size of a refused delivery in its line', async () => {
    const lines = capturePrints();
    const place = newPlace();
    const { inbox, post } = openAt({ place, onError: undefined });
    await post(orderPaid('ord_1'), sign({ rawBody: orderPaid('ord_1'), secret: 'whsec_of_another_shop' }));
    const [kept] = await inbox.refused();
    const size = orderPaid('ord_1').length;
    expect(lines()).toEqual([
      [
        expect.stringMatching(
          `^Refused delivery ${kept?.id} \\(signature_mismatch, ${size} bytes\\) is kept for recover\\(\\): WebhookVerificationError signature_mismatch: `,
        ),
      ],
    ]);
  });

  it('says which refused delivery made room for another', async () => {
    const lines = capturePrints();
    const { inbox, post } = openAt({ onError: undefined, keepRefused: 2 });
    const refuse = (id: string) =>
      post(orderPaid(id), sign({ rawBody: orderPaid(id), secret: 'whsec_of_another_shop' }));
    for (const id of ['ord_1', 'ord_2']) await refuse(id);
    const [second] = await inbox.refused();
    await refuse('ord_3');
    const facts = `\\(signature_mismatch, ${orderPaid('ord_3').length} bytes\\)`;
    expect(lines().at(-1)?.[0]).toMatch(
      new RegExp(
        `^Refused delivery \\d+ ${facts} is kept for recover\\(\\) in place of ${second?.id}: the quarantine is full`,
      ),
    );
  });

  it('says that a refused delivery is not kept where there is room for the first alone', async () => {
    const lines = capturePrints();
    const { post } = openAt({ onError: undefined, keepRefused: 1 });
    for (const id of ['ord_1', 'ord_2'])
      await post(orderPaid(id), sign({ rawBody: orderPaid(id), secret: 'whsec_of_another_shop' }));
    expect(lines().at(-1)?.[0]).toMatch(
      /^A refused delivery \(.*\) is not kept for recover\(\): the quarantine/,
    );
  });
});
