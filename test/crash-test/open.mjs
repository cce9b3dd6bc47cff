// Opens orders in shop.mjs: `node open.mjs <folder>`, with a JSON line for each order on standard input.
import { readFileSync, writeFileSync } from 'node:fs';

writeFileSync(`${process.argv[2]}/orders.jsonl`, readFileSync(0));
