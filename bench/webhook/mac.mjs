// What the MAC of a webhook costs: ours, createHmac, and two hashes of a copied body, by which ours works while a body
// is small.
//
//   node --expose-gc webhook/mac.mjs [--rounds 9]
import { createHmac, hash } from 'node:crypto';
import { parseArgs } from 'node:util';
import { bundled } from '../lib/bundle.mjs';
import { inTurn, machine, ratio, typical } from '../lib/measure.mjs';
import { figure, table } from '../lib/table.mjs';
import { timed } from '../lib/timed.mjs';

const { values: options } = parseArgs({ options: { rounds: { type: 'string', default: '9' } } });
const { hmac } = await import(await bundled('../src/webhooks/hmac.ts', 'hmac.mjs'));

const key = `whsec_${Buffer.from('0123456789abcdef0123456789abcdef').toString('base64')}`;
const before = '1767225600.';
const block = Buffer.alloc(64 + before.length);
const outer = Buffer.alloc(64 + 32);

console.log(`${machine(process.execPath)}; ${options.rounds} rounds; µs, and against createHmac.\n`);
const rows = [];
for (const bytes of [300, 2048, 4096, 8192, 102_400]) {
  const body = Buffer.alloc(bytes, '{"type":"order.paid"}');
  const calls = [
    () => createHmac('sha256', key).update(before).update(body).digest(),
    () => hmac('sha256', key, { before, body, after: '' }),
    () => hash('sha256', Buffer.concat([block, body])) + hash('sha256', outer),
  ];
  const samples = await inTurn(calls, (call) => timed(call, bytes > 10_000 ? 20 : 500), {
    rounds: Number(options.rounds),
  });
  const [reference, ...others] = calls.map((call) => samples.get(call));
  rows.push([
    `${bytes.toLocaleString('en-US')} B`,
    figure(typical(reference, 'us'), 2),
    ...others.flatMap((own) => [figure(typical(own, 'us'), 2), figure(ratio(own, reference, 'us'), 2)]),
  ]);
}
console.log(table(['body', 'createHmac', 'ours', '×', 'two hashes, copied', '×'], rows));
