import { describe, expect, test } from 'vitest';
import { findLink } from '../../src/doctor/link.js';
import { eventLinks } from '../../src/sandbox/service/event.js';

const key = 'service_test_a1b2c3d4e5f6';

describe('the search for the field that names the checkout', () => {
  test('has ten forms to distinguish', () => {
    expect(Object.keys(eventLinks)).toHaveLength(11); // and none
  });

  test.each<[string, string | undefined]>([
    ['{"data":{"checkout.id":"chk_a1b2c3d4"}}', 'data["checkout.id"]'],
    ['{"":"chk_a1b2c3d4"}', '[""]'],
    ['"chk_a1b2c3d4"', undefined],
  ])('names the field of %s as %s', async (body, field) => {
    const lookUp = async () => ({ amount: '1.00', currency: 'USD' });
    expect((await findLink(Buffer.from(body), lookUp)).field).toBe(field);
  });

  test('finds the id at the end of a URL, and in JSON that is a string', async () => {
    const session = { amount: '1.00', currency: 'USD' };
    const lookUp = async (id: string) => (id === 'chk_a1b2c3d4' ? session : undefined);
    const event = (data: object) =>
      Buffer.from(
        JSON.stringify({
          type: 'order.paid',
          data: { order_id: 'ord_1', amount: '1.00', currency: 'USD', ...data },
        }),
      );
    expect(await findLink(event({ page: 'https://pay.example/c/chk_a1b2c3d4?x=1' }), lookUp)).toMatchObject({
      field: 'data.page',
      checkoutId: 'chk_a1b2c3d4',
    });
    expect(await findLink(event({ metadata: '{"session":"chk_a1b2c3d4"}' }), lookUp)).toMatchObject({
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
});
