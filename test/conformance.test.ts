import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { promisify } from 'node:util';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { describe, expect, it } from 'vitest';

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

const path = (name: string) => fileURLToPath(new URL(`../conformance/${name}`, import.meta.url));
const read = (name: string) => JSON.parse(readFileSync(path(name), 'utf8'));
const { cases, bytesOf, textOf }: Corpus = await load('corpus.mjs');
const { makeDelivery }: Making = await load('make.mjs');
const { merchantPayments }: { merchantPayments: object } = await load('schemes.mjs');
const schema = read('schema.json');
const run = (...args: string[]) =>
  promisify(execFile)(process.execPath, [path('run.mjs'), ...args]).catch((error) => error);

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
    const credulous =
      'require("readline").createInterface({ input: process.stdin }).on("line", (line) => ' +
      'console.log(JSON.stringify({ id: JSON.parse(line).id, result: "accepted" })))';
    const { stdout, code } = await run('--json', '--stdio', '--', process.execPath, '-e', credulous);
    const rejected = cases.filter((one) => one.expect === 'reject').map(({ id }) => id);
    expect(JSON.parse(stdout).deviations.map(({ id }: { id: string }) => id)).toEqual(rejected);
    expect(code).toBe(1);
  });

  it.each([
    ['a command that does not exist', ['--stdio', '--', 'no-such-verifier'], /did not start/],
    ['a verifier that ends', ['--stdio', '--', process.execPath, '-e', ''], /ended with code 0/],
    ['a receiver that is not there', ['http://127.0.0.1:9/'], /valid delivery/],
    ['a scheme that it does not know', ['--scheme', 'x', 'http://127.0.0.1:9/'], /Schemes: default, stripe/],
    ['nothing', [], /Usage/],
  ])('says so and exits with 2 when given %s', async (_what, args, message) => {
    const { code, stderr } = await run(...args);
    expect(code).toBe(2);
    expect(stderr).toMatch(message);
  });
});

/** The runner is plain JavaScript, for others to copy: it has no types. */
function load(name: string) {
  return import(pathToFileURL(path(name)).href);
}
