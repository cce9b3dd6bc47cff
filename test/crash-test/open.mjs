// Opens orders in shop.mjs: `node open.mjs <folder> [own]`, with a JSON line for each order on standard input. With `own`, each
// gets an amount and a reference of the shop's own, which are printed.
import { readFileSync, writeFileSync } from 'node:fs';

const [folder, own] = process.argv.slice(2);
const given = readFileSync(0, 'utf8').trim();
const lines = own
  ? given.split('\n').map((_, number) => `{"reference":"A${number}","amount":"${500 + number}.00"}`)
  : [given];
writeFileSync(`${folder}/orders.jsonl`, lines.join('\n'));
if (own) console.log(lines.join('\n'));
