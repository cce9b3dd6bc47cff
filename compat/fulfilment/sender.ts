// A service that sends each delivery once and never again: whatever comes back, or whether anything does.
import { request } from 'node:http';
import { setTimeout as wait } from 'node:timers/promises';
import { sign } from 'merchant-payments/webhooks';
import { type Kill, markOf, type Plan, type Sending } from './plan.js';
import type { ShopProcess } from './processes.js';

export const secret = 'whsec_of_the_fulfilment';
const inFlight = 8;

/** A status, or what became of the connection. */
export type Reply = number | 'no response';

/** Sends all of the plan, and kills as it says. Returns the replies by the mark of what was sent. */
export async function send(plan: Plan, shop: ShopProcess[]): Promise<Map<string, Reply[]>> {
  const replies = new Map<string, Reply[]>();
  const waiting = [...plan.sendings];
  const kills = [...plan.kills];
  let began = 0;
  let killing = Promise.resolve();

  const sendRest = async () => {
    for (let next = waiting.shift(); next; next = waiting.shift()) {
      began++;
      // The kill before has to have happened, so that they are spread over the whole run.
      for (let kill = kills[0]; kill && kill.at < began; kill = kills[0]) {
        kills.shift();
        const due = kill;
        const before = killing;
        killing = before.then(() => killOne(shop, due));
        await before;
      }
      await sendOne(next);
    }
  };
  const failures = shop.map(({ failure }) => failure);
  await Promise.race([
    Promise.all(Array.from({ length: inFlight }, sendRest)).then(() => killing),
    ...failures,
  ]);
  return replies;

  async function sendOne(sending: Sending): Promise<void> {
    const received = await Promise.all(
      Array.from({ length: sending.times }, () => deliver(sending, shop, plan.random)),
    );
    const mark = markOf(sending.order);
    replies.set(mark, [...(replies.get(mark) ?? []), ...received]);
  }
}

async function killOne(shop: ShopProcess[], { pick, afterMs, signal }: Kill): Promise<void> {
  const target = shop[Math.floor(pick * shop.length)];
  await target?.untilReady();
  await wait(afterMs);
  await target?.restart(signal);
}

/** To an instance that runs, as a load balancer does. A refused connection carried nothing, so that another is tried. */
async function deliver(sending: Sending, shop: ShopProcess[], random: () => number): Promise<Reply> {
  const rawBody = JSON.stringify({ type: 'order.paid', data: eventData(sending) });
  const headers = sign({ rawBody, secret: sending.forged ? 'whsec_of_somebody_else' : secret });
  for (;;) {
    const running = shop.filter(({ web, ready }) => web && ready);
    if (shop.every(({ over }) => over)) return 'no response'; // the run has failed
    const target = running[Math.floor(random() * running.length)];
    const reply = target ? await post(target.port, rawBody, { ...headers }) : 'refused';
    if (reply !== 'refused') return reply;
    await wait(5);
  }
}

function eventData({ order: { id, cents }, unreadable }: Sending): Record<string, string> {
  const amount = decimal(cents);
  return { order_id: id, amount: unreadable ? amount.replace('.', ',') : amount, currency: 'USD' };
}

export function decimal(cents: number): string {
  return `${Math.floor(cents / 100)}.${String(cents % 100).padStart(2, '0')}`;
}

function post(port: number, body: string, headers: Record<string, string>): Promise<Reply | 'refused'> {
  return new Promise((resolve) => {
    const path = '/webhooks';
    const sent = request({
      port,
      host: '127.0.0.1',
      path,
      method: 'POST',
      headers,
      agent: false,
      timeout: 20_000,
    });
    sent.once('response', (response) => {
      response.resume().once('close', () => resolve(response.statusCode ?? 'no response'));
    });
    sent.once('timeout', () => sent.destroy(new Error('nothing came for 20 s')));
    sent.once('error', (error: NodeJS.ErrnoException) =>
      resolve(error.code === 'ECONNREFUSED' ? 'refused' : 'no response'),
    );
    sent.end(body);
  });
}
