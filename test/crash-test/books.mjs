// Prints the books of shop.mjs: `node books.mjs <folder>`. A line that replaces an earlier one of its order takes its place. Before the
// first order there is no file, and this fails.
import { readFileSync } from 'node:fs';

const lines = readFileSync(`${process.argv[2]}/paid.jsonl`, 'utf8')
  .split('\n')
  .filter(Boolean)
  .map((line) => JSON.parse(line));
const books = [];
for (const { replaces, ...line } of lines) {
  const place = replaces ? books.findIndex(({ order_id }) => order_id === line.order_id) : -1;
  books.splice(place === -1 ? books.length : place, place === -1 ? 0 : 1, line);
}
for (const line of books) console.log(JSON.stringify(line));
