import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage } from 'node:http';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it, onTestFinished } from 'vitest';
import { runProcess } from '../helpers/processes.js';

interface Case {
  id: string;
  body: object;
  headers: [string, unknown][];
  secret: string;
  clock: number;
  expect: 'accept' | 'reject';
  recipe?: object;
}

interface Corpus {
  cases: Case[];
  bytesOf(body: object): Buffer;
  textOf(value: unknown): string;
}

interface Making {
  makeDelivery(one: Case, options: object): { body: Buffer; headers: [string, string][] };
}

const path = (name: string) => fileURLToPath(new URL(`../../conformance/${name}`, import.meta.url));
const read = (name: string) => JSON.parse(readFileSync(path(name), 'utf8'));
const { cases, bytesOf, textOf }: Corpus = await load('corpus.mjs');
const { makeDelivery }: Making = await load('make.mjs');
const { merchantPayments }: { merchantPayments: object } = await load('schemes.mjs');
const schema = read('schema.json');
const run = (...args: string[]) => runProcess(process.execPath, [path('run.mjs'), ...args]);

/** A verifier that accepts everything. */
const credulous =
  'require("readline").createInterface({ input: process.stdin }).on("line", (line) => ' +
  'console.log(JSON.stringify({ id: JSON.parse(line).id, result: "accepted" })))';

describe('the conformance corpus', () => {
  it.each(['cases', 'vectors'])('%s.json follows its schema', (name) => {
    const ajv = new Ajv2020({ strict: false, allErrors: true });
    const validate = ajv.compile({ ...schema, $ref: `#/$defs/${name}` });
    validate(read(`${name}.json`));
    expect(validate.errors ?? []).toEqual([]);
  });

  it('names each case once', () => {
    const ids = cases.map(({ id }) => id);
    expect(new Set(ids).size).toBe(ids.length);
  });

  it.each(cases.filter(({ recipe }) => recipe))(
    '$id: the recipe makes the delivery as it is written',
    (one) => {
      const made = makeDelivery(one, { secret: one.secret, now: one.clock, scheme: merchantPayments });
      expect(made.headers).toEqual(one.headers.map(([name, value]) => [name, textOf(value)]));
      expect(made.body.equals(bytesOf(one.body))).toBe(true);
    },
  );

  it('finds no fault in the example verifier', async () => {
    const { stdout } = await run('--stdio', '--', process.execPath, path('verifiers/verify.mjs'));
    expect(stdout).toBe(`${cases.length} as expected, 0 deviations, 0 that do not apply here\n`);
  });

  it('reports a verifier that accepts everything, case by case', async () => {
    const { stdout, status } = await run('--json', '--stdio', '--', process.execPath, '-e', credulous);
    const rejected = cases.filter((one) => one.expect === 'reject').map(({ id }) => id);
    expect(JSON.parse(stdout).deviations.map(({ id }: { id: string }) => id)).toEqual(rejected);
    expect(status).toBe(1);
  });

  it('tells a receiver that signs other bytes that it has to take the raw ones', async () => {
    const { status, stderr } = await run(await receiver(() => 400));
    expect(status).toBe(2);
    expect(stderr).toMatch(
      /answered 400 to a valid delivery.*WEBHOOK_SECRET.*--scheme.*raw bytes of the body/s,
    );
  });

  it('wants a delivery that is too old refused with 4xx', async () => {
    // It accepts everything but a timestamp of some hours ago.
    const { stdout, status } = await run(
      await receiver(({ headers }) => {
        const age = Date.now() / 1000 - Number(headers['x-service-timestamp']);
        return age > 300 && age < 86_000 ? 302 : 200;
      }),
    );
    expect(status).toBe(1);
    expect(stdout).toContain(
      '✗ ts-hour-old: one hour old, validly signed\n  must be rejected, but it failed in an undeclared way (HTTP 302)\n',
    );
  });

  it('puts no delivery at the edge of a tolerance to a verifier that reads the real clock', async () => {
    const { stdout } = await run(
      '--json',
      '--scheme',
      'standard-webhooks',
      '--stdio',
      '--',
      process.execPath,
      '-e',
      credulous,
    );
    const { skipped }: { skipped: { id: string; reason: string }[] } = JSON.parse(stdout);
    const edges = ['ts-at-tolerance', 'ts-ahead-at', 'ts-one-second-too-old', 'ts-one-second-too-new'];
    const reasons = edges.map((id) => skipped.find((one) => one.id === id)?.reason);
    expect(reasons).toEqual(edges.map(() => 'it is about one second, which may pass on the way'));
  });

  it.each([
    ['a command that does not exist', ['--stdio', '--', 'no-such-verifier'], /did not start/],
    ['a verifier that ends', ['--stdio', '--', process.execPath, '-e', ''], /ended with code 0/],
    [
      'a receiver that is not there',
      ['http://127.0.0.1:2/'],
      /^No receiver answers at http:\/\/127.0.0.1:2\/: connect/,
    ],
    ['an address without http', ['localhost:3000/hooks'], /^"localhost:3000\/hooks" is not the address/],
    [
      'a text that is no address',
      ['shop'],
      /^"shop" is not the address of a receiver. Pass one such as http:/,
    ],
    ['a scheme that it does not know', ['--scheme', 'x', 'http://127.0.0.1:2/'], /Schemes: default, stripe/],
    ['nothing', [], /Usage/],
  ])('says so and exits with 2 when given %s', async (_what, args, message) => {
    const { status, stderr } = await run(...args);
    expect(status).toBe(2);
    expect(stderr).toMatch(message);
  });
});

/** The address of a receiver that answers with these statuses, until the test ends. */
async function receiver(statusOf: (request: IncomingMessage) => number): Promise<string> {
  const server = createServer((request, response) => {
    request.resume();
    response.writeHead(statusOf(request)).end();
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
}

/** The runner is plain JavaScript, for others to copy: it has no types. */
function load(name: string) {
  return import(pathToFileURL(path(name)).href);
}
