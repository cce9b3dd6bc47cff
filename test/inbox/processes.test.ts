import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { build } from 'esbuild';
import { describe, expect, it } from 'vitest';
import { sign } from '../../src/webhooks/index.js';
import { startProcess } from '../helpers/processes.js';
import { connect, orderPaid, secret, temporaryFolder } from './inboxes.js';

/** A shop: an inbox on a file, a table of what was fulfilled, and a server whose port it prints. */
const program = `
import { createServer } from 'node:http';
import { setTimeout as sleep } from 'node:timers/promises';
import { openInbox } from './inbox.mjs';

const [file, way] = process.argv.slice(2);
const inbox = openInbox({
  file,
  secret: ${JSON.stringify(secret)},
  leaseMs: 300,
  retries: Array(12).fill('10ms'),
  onError: () => {},
  on: {
    'order.paid': async (event, { commit }) => {
      if (way === 'returns too early') return void sleep(20).then(() => commit(() => {}));
      await sleep(Math.random() * 8);
      if (way === 'fails at first' && Math.random() < 0.3) throw new Error('not now');
      commit((db) => db.prepare('INSERT INTO fulfilled VALUES (?)').run(event.data.order_id));
      await sleep(Math.random() * 8);
    },
  },
});
const server = createServer(inbox.nodeHandler).listen(0, '127.0.0.1', () => console.log(server.address().port));
`;

async function shopProgram() {
  const folder = temporaryFolder();
  await build({
    entryPoints: ['src/inbox/index.ts'],
    outfile: join(folder, 'inbox.mjs'),
    bundle: true,
    platform: 'node',
    format: 'esm',
    logLevel: 'error',
  });
  const script = join(folder, 'shop.mjs');
  writeFileSync(script, program);
  const file = join(folder, 'shop.sqlite');
  const database = connect(file);
  database.exec('PRAGMA busy_timeout = 5000; CREATE TABLE fulfilled (order_id TEXT)');
  return { script, file, database };
}

async function start(script: string, file: string, way = '') {
  const args = ['--disable-warning=ExperimentalWarning', script, file, way];
  const { child } = startProcess(process.execPath, args);
  const [port] = await once(child.stdout, 'data');
  return { child, url: `http://127.0.0.1:${String(port).trim()}` };
}

/** Sends a delivery once: a sender that does not retry. Whether it got 200. */
async function deliver(url: string, id: string): Promise<boolean> {
  const body = orderPaid(id);
  const headers = sign({ rawBody: body, secret });
  return fetch(url, { method: 'POST', body, headers }).then(
    ({ status }) => status === 200,
    () => false,
  );
}

describe('a process that ends by the rejection of a commit() after its function has returned', () => {
  it('has parked the delivery, which was done', async () => {
    const { script, file, database } = await shopProgram();
    const { child, url } = await start(script, file, 'returns too early');
    const ended = once(child, 'exit');
    expect(await deliver(url, 'ord_1')).toBe(true);
    expect(await ended).toEqual([1, null]);
    const rows = database.prepare('SELECT state, last_error FROM payments_inbox').all();
    expect(rows).toMatchObject([
      { state: 'parked', last_error: expect.stringContaining('after the attempt had ended') },
    ]);
  });
});

describe('kill -9 at any time', () => {
  it.each(['', 'fails at first'])(
    'loses no delivery that got 200, and fulfils none twice %s',
    async (way) => {
      const { script, file, database } = await shopProgram();
      const accepted = new Set<string>();
      let sent = 0;
      for (let round = 0; round < 6; round++) {
        const { child, url } = await start(script, file, way);
        let isAlive = true;
        const sender = async () => {
          while (isAlive) {
            const id = `ord_${sent++}`;
            if (await deliver(url, id)) accepted.add(id);
          }
        };
        const senders = [sender(), sender(), sender()];
        // Well into the work, at another moment in each round.
        const enough = accepted.size + 5 + round * 3;
        while (accepted.size < enough) await new Promise((resolve) => setTimeout(resolve, 3));
        child.kill('SIGKILL');
        isAlive = false;
        await once(child, 'exit');
        await Promise.all(senders);
      }
      await start(script, file);
      const countFulfilled = () =>
        database
          .prepare('SELECT order_id FROM fulfilled')
          .all()
          .map((row) => String(row.order_id));
      const countUnfinished = () =>
        Number(
          database.prepare("SELECT count(*) AS count FROM payments_inbox WHERE state <> 'done'").get()?.count,
        );
      await expect.poll(countUnfinished, { timeout: 60_000, interval: 50 }).toBe(0);
      const all = countFulfilled();
      expect(new Set(all).size).toBe(all.length);
      expect([...accepted].filter((id) => !all.includes(id))).toEqual([]);
      expect(accepted.size).toBeGreaterThan(30);
    },
    120_000,
  );

  it('in one of several processes on a file leaves its deliveries to the others, one at a time', async () => {
    const { script, file, database } = await shopProgram();
    const shops = [await start(script, file), await start(script, file), await start(script, file)];
    const ids = Array.from({ length: 30 }, (_, index) => `ord_${index}`);
    const accepted: string[] = [];
    const killed = shops[0];
    const sends = ids.map(async (id, index) => {
      // Twice, to two of the processes: only what is stored may be done.
      const urls = [shops[1 + (index % 2)]?.url ?? '', killed?.url ?? ''];
      const taken = await Promise.all(urls.map((url) => deliver(url, id)));
      if (taken.includes(true)) accepted.push(id);
      if (index === 10) killed?.child.kill('SIGKILL');
    });
    await Promise.all(sends);
    const countFulfilled = () =>
      database
        .prepare('SELECT order_id FROM fulfilled')
        .all()
        .map((row) => String(row.order_id));
    await expect
      .poll(() => countFulfilled().length, { timeout: 30_000 })
      .toBeGreaterThanOrEqual(accepted.length);
    await expect
      .poll(
        () =>
          database.prepare("SELECT count(*) AS count FROM payments_inbox WHERE state <> 'done'").get()?.count,
        {
          timeout: 30_000,
        },
      )
      .toBe(0);
    expect(countFulfilled().sort()).toEqual(accepted.sort());
  });
});

describe('the first start of several processes at once', () => {
  it('makes the tables once', async () => {
    const { script, file, database } = await shopProgram();
    const shops = await Promise.all(Array.from({ length: 4 }, () => start(script, file)));
    const taken = await Promise.all(shops.map(({ url }, index) => deliver(url, `ord_${index}`)));
    expect(taken).toEqual([true, true, true, true]);
    expect(database.prepare('SELECT count(*) AS count FROM payments_inbox_version').get()).toEqual({
      count: 1,
    });
  });
});
