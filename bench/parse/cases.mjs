import * as z from 'zod/mini';
import { checkoutSchemas } from '../../src/schemas/checkout.ts';
import { productListSchema, productSchema } from '../../src/schemas/product.ts';
import { checkout, product, productPage } from '../lib/answers.mjs';
import { median } from '../lib/measure.mjs';
import { figure, table } from '../lib/table.mjs';

const number = z.number();
const text = z.string();
const zodProduct = (price, moment) =>
  z.looseObject({
    id: text,
    name: text,
    description: z.nullable(text),
    image: z.nullable(text),
    price,
    currency: text,
    status: text,
    metadata: z.record(text, text),
    createdAt: moment,
    updatedAt: moment,
  });
const zodPage = (item) =>
  z.looseObject({
    items: z.array(item),
    pagination: z.looseObject({ page: z.int(), size: z.int(), total: z.int(), totalPages: z.int() }),
  });
const { session } = checkoutSchemas(false);

const cases = [
  { name: 'checkout', body: checkout(), times: 5000, schemas: { ours: session } },
  {
    name: 'product',
    body: product(1),
    times: 5000,
    schemas: { ours: productSchema, zod: zodProduct(text, number) },
  },
  {
    name: 'page of 100',
    body: productPage(1),
    times: 150,
    schemas: { ours: productListSchema, zod: zodPage(zodProduct(number, text)) },
  },
];

const rows = cases.flatMap(({ name, body, times, schemas }) => {
  const json = JSON.stringify(body);
  const runs = Object.entries({ 'JSON.parse': undefined, ...schemas }).map(([how, schema]) => ({
    how,
    run: schema ? () => z.parse(schema, JSON.parse(json)) : () => JSON.parse(json),
    samples: [],
  }));
  for (let round = -3; round < Number(process.argv[2]); round++) {
    for (const { run, samples } of runs) {
      const cost = cpuUs(run, times);
      if (round >= 0) samples.push(cost);
    }
  }
  const [alone] = runs.map(({ samples }) => median(samples));
  return runs.map(({ how, samples }) => {
    const cost = median(samples);
    return [name, how, figure(cost, 2), how === 'JSON.parse' ? '–' : figure((cost - alone) / alone, 2)];
  });
});
console.log(table(['answer', 'read by', 'CPU µs', 'besides JSON.parse, × JSON.parse'], rows));

function cpuUs(run, times) {
  globalThis.gc();
  const before = process.cpuUsage();
  for (let done = 0; done < times; done++) run();
  const { user, system } = process.cpuUsage(before);
  return (user + system) / times;
}
