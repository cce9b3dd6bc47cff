import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it, vi } from 'vitest';
import { sign } from '../../../src/webhooks/index.js';
import { orderPaid, secret, temporaryFile, temporaryFolder, withResolvers } from '../inboxes.js';
import { runInbox } from '../program.js';
import { isPostgres, newPlace, openAt, type Place } from './places.js';

/** In a folder of a shop, whose packages it may need. */
function run({ args: [name = '', ...options], cwd }: Pick<Place, 'args' | 'cwd'>, ...args: string[]) {
  return runInbox([name, ...args, ...options], cwd);
}

/** A place that a running server has open: one delivery done, one parked. */
async function openFilled() {
  const place = newPlace();
  const fail = { on: true };
  const all = openAt({
    place,
    retries: [],
    on: {
      'order.paid': (event) => {
        if (fail.on && event.data.order_id === 'ord_2') throw new Error('no stock');
      },
    },
  });
  for (const id of ['ord_1', 'ord_2']) await all.post(orderPaid(id));
  await all.inbox.idle();
  return { ...all, place, fail };
}

describe('merchant-payments inbox', () => {
  it('shows the states and what is parked', async () => {
    const { place } = await openFilled();
    const { status, stdout } = run(place);
    expect(status).toBe(0);
    expect(stdout).toBe(
      [
        'pending           0',
        'running           0',
        'done              1',
        'parked            1',
        'refused           0',
        'dropped           0',
        'oldestPendingMs   -',
        'oldestRunningMs   -',
        '',
        'PARKED             ATTEMPTS   LAST ERROR',
        'order.paid:ord_2   1          Error: no stock',
        '',
      ].join('\n'),
    );
    expect(JSON.parse(run(place, '--json').stdout)).toMatchObject({
      ...{ pending: 0, running: 0, done: 1, parked: 1, oldestPendingMs: null },
      parkedDeliveries: [{ key: 'order.paid:ord_2', state: 'parked', lastError: 'Error: no stock' }],
    });
  });

  it('shows one delivery with its event', async () => {
    const { place, inbox } = await openFilled();
    const { stdout } = run(place, 'show', 'order.paid:ord_2');
    expect(stdout).toContain('state           parked');
    expect(stdout).toContain('"order_id": "ord_2"');
    expect(JSON.parse(run(place, 'show', 'order.paid:ord_2', '--json').stdout)).toEqual(
      await inbox.get('order.paid:ord_2'),
    );
    expect(run(place, 'show', 'nope')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'There is no delivery "nope".\n',
    });
  });

  it.each([[['retry', 'order.paid:ord_2']], [['retry', '--parked']]])(
    '%s: the running server does it',
    async (args) => {
      const { place, inbox, fail } = await openFilled();
      fail.on = false;
      expect(run(place, ...args)).toMatchObject({ status: 0, stdout: '✓ 1 due now\n' });
      await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ done: 2, parked: 0 }), {
        timeout: 15_000,
      });
    },
  );

  it('retry and discard of what is not waiting say so', async () => {
    const { place } = await openFilled();
    for (const action of ['retry', 'discard']) {
      expect(run(place, action, 'order.paid:ord_1')).toMatchObject({
        status: 1,
        stderr: 'There is no delivery "order.paid:ord_1" that is pending or parked.\n',
      });
    }
  });

  it('retry and discard of what is running say so', async () => {
    const place = newPlace();
    const { promise, resolve } = withResolvers();
    const { inbox, post } = openAt({ place, on: { 'order.paid': () => promise } });
    await post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ running: 1 }));
    for (const action of ['retry', 'discard'])
      expect(run(place, action, 'order.paid:ord_1')).toMatchObject({
        status: 1,
        stderr: expect.stringContaining('is running. If its server was killed, it is due within a minute.'),
      });
    resolve();
  });

  it('discards a delivery, and purges what is old', async () => {
    const { place, inbox } = await openFilled();
    expect(run(place, 'discard', 'order.paid:ord_2', '--json').stdout).toBe('{"discarded":1}\n');
    expect(await inbox.get('order.paid:ord_2')).toMatchObject({ state: 'discarded' });
    expect(run(place, 'purge', '--older-than', '1h').stdout).toContain('0 purged');
    expect(run(place, 'purge', '--older-than', '0s', '--json').stdout).toBe('{"purged":2}\n');
    expect(run(place, 'show', 'order.paid:ord_1').stdout).toContain('purged');
  });

  it('says that nothing was refused, and asks for no secret to identify it', async () => {
    const place = newPlace();
    await openAt({ place }).inbox.stats();
    vi.stubEnv('PAYMENTS_WEBHOOK_SECRET', '');
    expect(run(place, 'refused', '--identify')).toEqual({
      status: 1,
      stdout: '',
      stderr: 'Nothing was refused, so there is nothing to identify.\n',
    });
  });

  it('shows what was refused, finds the scheme that signed it, and recovers it: no order is lost', async () => {
    const all = await openFilled();
    const scheme = { content: '{timestamp}{body}' };
    for (const id of ['ord_7', 'ord_8']) {
      const rawBody = orderPaid(id);
      expect(await all.post(rawBody, sign({ rawBody, secret, scheme }))).toMatchObject({ status: 400 });
    }
    await all.post('evil\u001b[2J\u202e', {
      'x-service-signature': 'f'.repeat(64),
      'x-service-timestamp': '1',
    });
    const { stdout } = run(all.place, 'refused');
    expect(stdout).toMatch(/^ID +RECEIVED AT +TIMES +REFUSED BECAUSE +BYTES +HEADERS +BODY\n/);
    expect(stdout).toContain('signature_mismatch');
    expect(stdout).toContain('"order_id":"ord_8"');
    expect(stdout).toContain('evil\\u001b[2J\\u202e');
    expect(run(all.place, 'refused', '--json').stdout).toContain('\\u202e');
    expect(JSON.parse(run(all.place, 'refused', '--json').stdout)).toHaveLength(3);
    vi.stubEnv('PAYMENTS_WEBHOOK_SECRET', secret);
    const identified = run(all.place, 'refused', '--identify');
    expect(identified).toMatchObject({
      status: 0,
      stdout: expect.stringContaining("content: '{timestamp}{body}'"),
    });
    const given = JSON.parse(run(all.place, 'refused', '--identify', '--json').stdout);
    expect(given.scheme).toEqual(scheme);
    expect(run(all.place, 'recover', '--scheme', JSON.stringify(scheme))).toMatchObject({
      status: 0,
      stdout: '✓ 2 recovered, 0 stored before, 1 still refused\n',
    });
    await vi.waitFor(async () => expect(await all.inbox.stats()).toMatchObject({ done: 3, refused: 1 }), {
      timeout: 15_000,
    });
  });

  it('says that a body came as base64 and how to decode it, and recovers the payment', async () => {
    const place = newPlace();
    const { inbox, post, calls } = openAt({ place });
    const rawBody = orderPaid('ord_8');
    const { status } = await post(Buffer.from(rawBody).toString('base64'), sign({ rawBody, secret }));
    expect(status).toBe(400);
    vi.stubEnv('PAYMENTS_WEBHOOK_SECRET', secret);
    const identified = run(place, 'refused', '--identify');
    expect(identified).toMatchObject({
      status: 0,
      stdout: expect.stringContaining('It is the default scheme'),
    });
    expect(identified.stdout).toContain('The body is base64, as AWS Lambda passes it: decode it');
    expect(await inbox.recover()).toEqual({ recovered: 1, duplicates: 0, refused: 0 });
    await inbox.idle();
    expect(calls).toEqual([['ord_8', 1]]);
  });

  it('identifies and recovers what came late, after those that need a scheme', async () => {
    const { place, post, inbox } = await openFilled();
    const scheme = { content: '{timestamp}{body}' };
    const postLate = (id: string) => {
      const rawBody = orderPaid(id);
      return post(rawBody, sign({ rawBody, secret, timestamp: new Date(Date.now() - 390_000) }));
    };
    await post(orderPaid('ord_6'), sign({ rawBody: orderPaid('ord_6'), secret, scheme }));
    await postLate('ord_7');
    vi.stubEnv('PAYMENTS_WEBHOOK_SECRET', secret);
    expect(JSON.parse(run(place, 'refused', '--identify', '--json').stdout)).toMatchObject({ scheme });
    run(place, 'recover', '--scheme', JSON.stringify(scheme));
    expect(run(place, 'refused').stdout).toContain('timestamp_too_old');
    const { status, stdout } = run(place, 'refused', '--identify');
    expect(status).toBe(0);
    expect(stdout).toContain('It is the default scheme');
    expect(stdout).toMatch(/39\d(?:\.\d+)? s before its arrival: recover it with --tolerance 7m\./);
    const none = '✗ 0 recovered, 0 stored before, 1 still refused';
    const advice = 'To find the scheme that signed them, run `refused --identify`.';
    expect(run(place, 'recover')).toMatchObject({ status: 1, stdout: `${none}\n\n${advice}\n` });
    expect(run(place, 'recover', '--tolerance', '7m')).toMatchObject({
      status: 0,
      stdout: '✓ 1 recovered, 0 stored before, 0 still refused\n',
    });
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ done: 3, refused: 0 }), {
      timeout: 15_000,
    });
  });

  it('says how many refused deliveries had made room for those that it recovers', async () => {
    const place = newPlace();
    const { post } = openAt({ place, keepRefused: 1, work: false });
    for (const id of ['ord_1', 'ord_2'])
      await post(orderPaid(id), sign({ rawBody: orderPaid(id), secret: 'whsec_of_another_shop' }));
    vi.stubEnv('PAYMENTS_WEBHOOK_SECRET', 'whsec_of_another_shop');
    const { stdout } = run(place, 'recover');
    expect(stdout).toContain('✓ 1 recovered, 0 stored before, 0 still refused\n\n1 more had been dropped');
    expect(JSON.parse(run(place, 'recover', '--json').stdout)).toEqual({
      ...{ recovered: 0, duplicates: 0, refused: 0, dropped: 1 },
    });
  });

  it('names the tolerance that recovers all that came late or early', async () => {
    const { place, post } = await openFilled();
    for (const [id, ms] of [
      ['ord_6', -390_000],
      ['ord_7', -7_000_000],
      ['ord_8', 500_000],
    ] as const) {
      const rawBody = orderPaid(id);
      await post(rawBody, sign({ rawBody, secret, timestamp: new Date(Date.now() + ms) }));
    }
    vi.stubEnv('PAYMENTS_WEBHOOK_SECRET', secret);
    expect(run(place, 'refused', '--identify').stdout).toMatch(
      /3 came late or early, the furthest signed 7000(?:\.\d+)? s before its arrival: recover it with --tolerance 117m\./,
    );
    expect(run(place, 'recover', '--tolerance', '117m').stdout).toContain('3 recovered');
  });

  it('identifies deliveries whose headers have names of your own', async () => {
    const names = { signatureHeader: 'x-pay-sig', timestampHeader: 'x-pay-time' };
    const place = newPlace();
    const { post } = openAt({ place, scheme: names });
    const scheme = { ...names, content: '{timestamp}{body}' };
    await post(orderPaid('ord_1'), sign({ rawBody: orderPaid('ord_1'), secret, scheme }));
    vi.stubEnv('PAYMENTS_WEBHOOK_SECRET', secret);
    expect(run(place, 'refused', '--identify')).toMatchObject({
      status: 1,
      stdout: expect.stringContaining('header names of its own, pass them as --scheme'),
    });
    const { stdout } = run(place, 'refused', '--identify', '--json', '--scheme', JSON.stringify(names));
    expect(JSON.parse(stdout)).toMatchObject({ found: true, scheme });
  });

  it('identifies deliveries whose signature covers the URL of the webhook', async () => {
    const { place, post } = await openFilled();
    const scheme = { content: 'https://shop.example/webhooks{body}' };
    await post(orderPaid('ord_6'), sign({ rawBody: orderPaid('ord_6'), secret, scheme }));
    vi.stubEnv('PAYMENTS_WEBHOOK_SECRET', secret);
    expect(run(place, 'refused', '--identify').stdout).toContain('pass it as well (--url)');
    const found = run(place, 'refused', '--identify', '--json', '--url', 'https://shop.example/webhooks');
    expect(JSON.parse(found.stdout)).toMatchObject({ found: true, scheme });
  });

  it('says how many deliveries it does not show', async () => {
    const place = newPlace();
    const { post, inbox } = openAt({ place, keepRefused: 2000 });
    for (let number = 0; number < 102; number++) await post(JSON.stringify({ type: `t${number}`, data: {} }));
    await inbox.idle();
    expect(run(place).stdout).toMatch(/\n\n2 more are parked/);
    await place.run(`INSERT INTO $inbox_refused (code, received_at, bytes, headers, raw_body)
      WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n WHERE i < 1001)
      SELECT 'signature_mismatch', 0, 4, '{}', 'body' FROM n`);
    expect(run(place, 'refused').stdout).toMatch(/\n\nThese are the newest 1000 of 1001\./);
  });

  it('lists what waits for its next attempt, and tries it now', async () => {
    const place = newPlace();
    const mail = { isDown: true };
    const { inbox, post } = openAt({
      place,
      retries: ['2h'],
      on: {
        'order.paid': () => {
          if (mail.isDown) throw new Error('the mail server is down');
        },
      },
    });
    await post(orderPaid('ord_1'));
    await vi.waitFor(async () => expect((await inbox.list())[0]?.lastError).toContain('mail'));
    const [entry] = await inbox.list();
    expect(run(place, 'list', '--pending').stdout).toBe(
      [
        'KEY                STATE     ATTEMPTS   NEXT ATTEMPT               LAST ERROR',
        `order.paid:ord_1   pending   1          ${entry?.nextAttemptAt}   Error: the mail server is down`,
        '',
      ].join('\n'),
    );
    expect(run(place, 'list', '--parked').stdout).toBe('There is none.\n');
    mail.isDown = false;
    expect(run(place, 'retry', '--pending').stdout).toContain('1 due now');
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ done: 1 }));
  });

  it('empties the quarantine', async () => {
    const { place, post, inbox } = await openFilled();
    for (const id of ['ord_6', 'ord_7', 'ord_8'])
      await post(orderPaid(id), sign({ rawBody: orderPaid(id), secret: 'whsec_of_another_shop' }));
    const [newest] = await inbox.refused();
    expect(run(place, 'refused', '--discard', `${newest?.id}`).stdout).toContain('1 discarded');
    expect(run(place, 'refused', '--discard', `${newest?.id}`)).toMatchObject({ status: 1 });
    expect(run(place, 'refused', '--discard', '--older-than', '1h').stdout).toContain('0 discarded');
    expect(run(place, 'refused', '--discard', '--json').stdout).toBe('{"discarded":2}\n');
    expect(await inbox.stats()).toMatchObject({ refused: 0 });
  });

  it('accepts a captured delivery once it is verified', async () => {
    const { place, inbox } = await openFilled();
    const folder = temporaryFolder();
    const storeDelivery = (body: string, key: string) => {
      const captured = {
        receivedAt: '2026-01-31T10:00:00.000Z',
        headers: Object.entries(
          sign({ rawBody: body, secret: key, timestamp: new Date('2026-01-31T10:00:00Z') }),
        ),
        bodyBase64: Buffer.from(body).toString('base64'),
      };
      const file = join(folder, 'captured.json');
      writeFileSync(file, JSON.stringify(captured));
      return file;
    };
    vi.stubEnv('PAYMENTS_WEBHOOK_SECRET', secret);
    const forged = run(place, 'accept', storeDelivery(orderPaid('ord_9'), 'whsec_of_another_shop'));
    expect(forged).toMatchObject({ status: 1, stderr: expect.stringContaining('signature') });
    const file = storeDelivery(orderPaid('ord_9'), secret);
    expect(run(place, 'accept', file).stdout).toContain('stored as order.paid:ord_9');
    await vi.waitFor(async () =>
      expect(await inbox.get('order.paid:ord_9')).toMatchObject({ state: 'done' }),
    );
    expect(await inbox.get('order.paid:ord_9')).toMatchObject({ receivedAt: '2026-01-31T10:00:00.000Z' });
    expect(run(place, 'accept', file).stdout).toContain('order.paid:ord_9 was stored before');
    const other = storeDelivery(orderPaid('ord_9').replace('19.90', '9.90'), secret);
    expect(run(place, 'accept', other).stdout).toMatch(/stored as order\.paid:ord_9#[0-9a-f]{16}/);
  });

  it('copies every delivery and the quarantine into another inbox, and again what came in meanwhile', async () => {
    const { place, post, inbox } = await openFilled();
    const refused = orderPaid('ord_7');
    for (const key of ['whsec_first', 'whsec_last'])
      await post(refused, sign({ rawBody: refused, secret: key }));
    await inbox.discard('order.paid:ord_2');
    await post('{"type":"refund.created","data":{}}');
    await inbox.idle();
    await place.run(`INSERT INTO $inbox (key, digest, state, received_at, attempts, due_at, due_set_at, started_at)
      VALUES ('order.paid:held', 'd', 'running', 1000, 1, 9000000000000, 1000, 1000)`);
    const before = [await inbox.list(), await inbox.refused()];
    const file = temporaryFile();
    const counts = { pending: 1, running: 0, done: 1, parked: 1, discarded: 1 };
    const first = run(place, 'copy', '--to', file, '--json');
    expect(JSON.parse(first.stdout)).toEqual({
      ...{ copied: counts, present: 0, doneSince: 0, ranInBoth: [], refused: 1, refusedPresent: 0 },
    });
    const second = newPlace();
    const copyBack = () => run({ args: [file], cwd: place.cwd }, 'copy', '--to', ...second.args);
    expect(copyBack().stdout).toContain('4 deliveries copied, 0 were there');
    await post(orderPaid('ord_3'));
    await vi.waitFor(async () =>
      expect(await inbox.get('order.paid:ord_3')).toMatchObject({ state: 'done' }),
    );
    expect(run(place, 'copy', '--to', file).stdout).toContain('1 deliveries copied, 4 were there');
    expect(copyBack().stdout).toMatch(/1 deliveries copied, 4 were there[\s\S]*refused, were there +1/);
    expect([(await inbox.list()).slice(1), await inbox.refused()]).toEqual(before);
    const copy = openAt({ place: second, work: false });
    const withoutTimes = (entry: object) => ({ ...entry, state: '', nextAttemptAt: '' });
    expect((await copy.inbox.list()).map(withoutTimes)).toEqual((await inbox.list()).map(withoutTimes));
    expect(await copy.inbox.get('order.paid:held')).toMatchObject({ state: 'pending', attempts: 1 });
    expect(await copy.inbox.refused()).toMatchObject(
      before[1]?.map(({ id: _, ...rest }: { id?: unknown }) => rest) ?? [],
    );
    expect(await copy.inbox.recover({ secret: 'whsec_last' })).toMatchObject({ recovered: 1 });
  });

  it('copies how many refused deliveries had made room, once however often it is copied', async () => {
    const [place, second, file] = [newPlace(), newPlace(), temporaryFile()];
    const { post } = openAt({ place, keepRefused: 1, work: false });
    const refuse = (id: string) =>
      post(orderPaid(id), sign({ rawBody: orderPaid(id), secret: 'whsec_of_another_shop' }));
    for (const id of ['ord_1', 'ord_2']) await refuse(id);
    for (const refused of [1, 0]) {
      const { result } = copyThrough(file, place, second);
      expect(result).toMatchObject({ refused, refusedPresent: 1 - refused });
    }
    const copy = openAt({ place: second, work: false });
    expect(await copy.inbox.stats()).toMatchObject({ refused: 1, dropped: 1 });
    for (const id of ['ord_3', 'ord_4']) await refuse(id);
    copyThrough(file, place, second);
    expect(await copy.inbox.stats()).toMatchObject({ refused: 1, dropped: 3 });
  });

  /** Copies through a file: one of the two copies is from a file to a place. Returns the result of the second. */
  function copyThrough(file: string, from: Place, to: Place) {
    run(from, 'copy', '--to', file);
    const copied = run({ args: [file], cwd: from.cwd }, 'copy', '--to', ...to.args, '--json');
    return { ...copied, result: JSON.parse(copied.stdout) };
  }

  it('is how a shop moves: each webhook that either server stored is fulfilled once', async () => {
    const [place, second, file] = [newPlace(), newPlace(), temporaryFile()];
    const begun: string[] = [];
    const { promise, resolve } = withResolvers();
    const old = openAt({
      place,
      on: {
        'order.paid': async ({ data }) => {
          begun.push(data.order_id);
          if (data.order_id === 'ord_slow') await promise;
        },
      },
    });
    const storing = openAt({ place: second, work: false });
    for (const id of ['ord_done', 'ord_both', 'ord_slow']) await old.post(orderPaid(id));
    for (const id of ['ord_new', 'ord_both']) await storing.post(orderPaid(id));
    await vi.waitFor(() => expect(begun).toContain('ord_slow'));
    await old.inbox.close();
    expect(copyThrough(file, place, second)).toMatchObject({
      status: 0,
      result: { copied: { pending: 1, done: 1 }, present: 1, doneSince: 1 },
    });
    resolve();
    const { inbox, calls } = openAt({ place: second });
    await inbox.idle();
    expect(calls.map(([id]) => id).sort()).toEqual(['ord_new', 'ord_slow']);
    expect(await inbox.stats()).toMatchObject({ done: 4, pending: 0 });
  });

  it('copied again, a delivery is done that the source has done since; nothing becomes pending again', async () => {
    const { place, post, inbox, fail } = await openFilled();
    const [second, file] = [newPlace(), temporaryFile()];
    copyThrough(file, place, second);
    fail.on = false;
    await inbox.retryParked();
    await vi.waitFor(async () => expect(await inbox.stats()).toMatchObject({ done: 2 }));
    await post(orderPaid('ord_2').replace('19.90', '9.90'));
    expect(copyThrough(file, place, second)).toMatchObject({ status: 0, result: { doneSince: 1 } });
    const copy = openAt({ place: second });
    await copy.post(orderPaid('ord_3'));
    await copy.inbox.idle();
    expect(copy.calls.map(([id]) => id)).toEqual(['ord_3']);
    await place.run(
      "UPDATE $inbox SET state = 'pending', due_at = 9000000000000 WHERE key = 'order.paid:ord_1'",
    );
    copyThrough(file, place, second);
    expect(await copy.inbox.get('order.paid:ord_1')).toMatchObject({ state: 'done' });
  });

  it('says which deliveries have run in both, and leaves them as they are', async () => {
    const [place, second] = [newPlace(), newPlace()];
    for (const id of ['ord_1', 'ord_2']) {
      for (const each of [place, second]) {
        const fails = each === second && id === 'ord_2';
        const { inbox, post } = openAt({
          place: each,
          retries: [],
          on: { 'order.paid': () => fails && Promise.reject(new Error('no stock')) },
        });
        await post(orderPaid(id));
        await inbox.idle();
        await inbox.close();
      }
    }
    const { status, result } = copyThrough(temporaryFile(), place, second);
    expect(status).toBe(1);
    expect(result).toMatchObject({ doneSince: 0, ranInBoth: ['order.paid:ord_2'] });
    expect(await openAt({ place: second }).inbox.stats()).toMatchObject({ done: 1, parked: 1 });
  });

  it('says which open orders ask for the same amount in the copy', async () => {
    const [place, second, file] = [newPlace(), newPlace(), temporaryFile()];
    for (const [each, ids] of [
      [place, ['ann', 'carl']],
      [second, ['early', 'eva', 'gus']],
    ] as const) {
      await openAt({ place: each, work: false }).inbox.stats();
      const book = each.openBook();
      for (const id of ids) {
        await book.reserve({ id, price: '24.00', currency: 'USD' });
        await book.open(id, { expiresAt: new Date('2100-01-01') });
      }
    }
    run(place, 'copy', '--to', file);
    const from = { args: [file], cwd: place.cwd };
    const { status, stdout } = run(from, 'copy', '--to', ...second.args);
    expect(status).toBe(1);
    expect(stdout).toContain(
      'same amount. Cancel one of them, or decide on their payments by hand:\n' +
        '23.99   USD   carl\n23.99   USD   eva\n24.00   USD   ann\n24.00   USD   early\n',
    );
    const book = second.openBook();
    await book.cancel('early');
    await book.cancel('eva');
    expect(run(from, 'copy', '--to', ...second.args).status).toBe(0);
  });

  it('copies the order book too, and again what has happened to its orders and payments since', async () => {
    const place = newPlace();
    await openAt({ place, work: false }).inbox.stats();
    const book = place.openBook({ most: '0.00' });
    const buy = async (id: string, price: string) => {
      await book.reserve({ id, price, currency: 'USD' });
      await book.open(id, { expiresAt: new Date('2100-01-01') });
    };
    const credit = (order_id: string, amount: string) =>
      book.runWithin(({ credit }) => credit({ order_id, amount, currency: 'USD' }));
    await book.reserve({ id: 'reserved', price: '1.00', currency: 'USD' });
    for (const [index, id] of ['paid', 'open', 'later'].entries()) await buy(id, `2.0${index}`);
    await credit('ord_paid', '2.00');
    await credit('ord_held', '9.00');
    const [file, second] = [temporaryFile(), newPlace()];
    const listCopied = () => JSON.parse(run(place, 'copy', '--to', file, '--json').stdout);
    expect(listCopied()).toMatchObject({
      orders: { copied: 4, present: 0 },
      payments: { copied: 2, present: 0 },
    });
    await credit('ord_later', '2.02');
    await book.returned('open');
    await book.dismiss('ord_held');
    expect(listCopied()).toMatchObject({
      orders: { copied: 0, present: 4 },
      payments: { copied: 1, present: 2 },
    });
    const { stdout } = run({ args: [file], cwd: place.cwd }, 'copy', '--to', ...second.args);
    expect(stdout).toMatch(/orders +4\norders, were there +0\npayments +3\npayments, were there +0/);
    for (const table of ['$order', '$order_payment']) {
      const all = `SELECT * FROM ${table} ORDER BY id`;
      expect(await second.run(all)).toEqual(await place.run(all));
    }
  });

  it.each(['0s', '2', 'soon', '-1h'])('refuses --tolerance=%s', (tolerance) => {
    const { status, stderr } = run(newPlace(), 'recover', `--tolerance=${tolerance}`);
    expect(status).toBe(2);
    expect(stderr).toContain(`--tolerance "${tolerance}" `);
  });

  it('prints no control characters of a delivery', async () => {
    const { place, post, inbox } = await openFilled();
    await post(JSON.stringify({ type: 'evil\u001b[2J', data: {} }));
    await inbox.idle();
    expect(run(place).stdout).toMatch(/^evil\\u001b\[2J:[0-9a-f]{64} +1/m);
  });
});

if (isPostgres()) {
  describe('merchant-payments inbox on PostgreSQL', () => {
    it('takes the database from DATABASE_URL', async () => {
      const { place } = await openFilled();
      const [url = '', ...options] = place.args;
      vi.stubEnv('DATABASE_URL', url);
      const { stdout } = run({ args: ['stats', ...options], cwd: place.cwd }, '--json');
      expect(JSON.parse(stdout)).toMatchObject({ done: 1, parked: 1 });
    });

    it('says why a database cannot be used, and never its password', () => {
      const { cwd } = newPlace();
      for (const url of [
        'postgres://shop:hunter2@127.0.0.1:1/shop',
        'postgres://shop:hunter2@127.0.0.1:port/shop',
      ]) {
        vi.stubEnv('DATABASE_URL', url);
        const { status, stdout, stderr } = run({ args: ['list'], cwd });
        expect(status).toBe(1);
        expect(stderr).toMatch(/The database cannot be used|URL/);
        expect(stdout + stderr).not.toContain('hunter2');
      }
    });

    it('of a schema that holds no inbox is an error, and none is made', async () => {
      const place = newPlace();
      for (let tries = 0; tries < 2; tries++)
        expect(run(place)).toMatchObject({ status: 1, stderr: expect.stringContaining('holds no inbox') });
    });

    it('prints the migration that makes the tables: running it again changes nothing', async () => {
      const place = newPlace();
      const [, ...options] = place.args;
      const { stdout } = run({ args: ['--print-schema', ...options], cwd: place.cwd });
      for (let tries = 0; tries < 2; tries++) await place.run(stdout);
      expect(JSON.parse(run(place, '--json').stdout)).toMatchObject({ pending: 0, parkedDeliveries: [] });
    });
  });
}
