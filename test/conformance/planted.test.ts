import { once } from 'node:events';
import { createServer } from 'node:http';
import { fileURLToPath, pathToFileURL } from 'node:url';
import { afterAll, beforeAll, expect, test } from 'vitest';

interface Case {
  id: string;
  finds?: string;
  witness?: string;
}
interface Result {
  one: Case;
  outcome?: object;
  skipped?: string;
}
type Results = AsyncIterable<Result>;

const path = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const load = (name: string) => import(pathToFileURL(path(name)).href);
const { cases, defaults }: { cases: Case[]; defaults: object } = await load('../../conformance/corpus.mjs');
const { schemes }: { schemes: { default: object } } = await load('../../conformance/schemes.mjs');
const { deviation }: { deviation(one: Case, outcome: object): string | undefined } = await load(
  '../../conformance/judge.mjs',
);
interface Question {
  body: string;
}
const {
  asWritten,
  examineVerifier,
}: {
  asWritten(one: Case): Question;
  examineVerifier(command: string[], options: object): Results;
} = await load('../../conformance/stdio.mjs');
const { examineReceiver }: { examineReceiver(url: string, options: object): Results } = await load(
  '../../conformance/http.mjs',
);
const planted: { faults: Record<string, object>; answer(fault: string, question: object): Outcome } =
  await load('planted.mjs');
interface Outcome {
  result: string;
  kind?: string;
}

const secret = 'whsec_merchant_test_7Qm2xV9c';
const options = { secret, scheme: schemes.default };
const names = Object.keys(planted.faults);

/** A receiver with the mistake that its path names. */
const server = createServer(async (request, response) => {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  const raw = request.rawHeaders;
  const question = {
    ...defaults,
    body: Buffer.concat(chunks),
    headers: raw.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), raw[at + 1]]] : [])),
    secrets: [secret],
    now: Math.floor(Date.now() / 1000),
  };
  const { result, kind } = planted.answer(decodeURIComponent(request.url?.slice(1) ?? ''), question);
  response.writeHead(result === 'accepted' ? 200 : kind === 'verification' ? 400 : 500).end();
});
let base = '';
beforeAll(async () => {
  await once(server.listen(0, '127.0.0.1'), 'listening');
  const address = server.address();
  base = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/`;
});
afterAll(() => void server.close());

/** Returns the cases that the runner reports, and those that it leaves out. */
async function judgeResults(results: Results) {
  const found: string[] = [];
  const skipped: string[] = [];
  for await (const { one, outcome, skipped: reason } of results) {
    if (reason !== undefined) skipped.push(one.id);
    else if (outcome && deviation(one, outcome)) found.push(one.id);
  }
  return { found, skipped };
}

/** Does some work for each name, a few at a time. */
async function runForEach<Value>(
  some: string[],
  work: (name: string) => Promise<Value>,
): Promise<Map<string, Value>> {
  const done = new Map<string, Value>();
  const waiting = [...some];
  const worker = async () => {
    for (let name = waiting.shift(); name !== undefined; name = waiting.shift())
      done.set(name, await work(name));
  };
  await Promise.all([worker(), worker(), worker()]);
  return done;
}

/** The questions of the runner over stdio. */
const questions = cases.map((one) => {
  const question = asWritten(one);
  return { one, question: { ...question, body: Buffer.from(question.body, 'base64') } };
});

/** The cases that a mistake fails, in this process. */
const casesFailedBy = (fault: string) =>
  questions
    .filter(({ one, question }) => deviation(one, planted.answer(fault, question)))
    .map(({ one }) => one.id);

const runOverStdio = (fault: string) =>
  judgeResults(examineVerifier([process.execPath, path('planted.mjs'), fault], options));

test('a verifier without a mistake is called right, over HTTP too', async () => {
  expect((await runOverStdio('none')).found).toEqual([]);
  expect((await judgeResults(examineReceiver(`${base}none`, options))).found).toEqual([]);
});

test('every planted fault is found, and each case says which one only it finds', {
  timeout: 240_000,
}, async () => {
  const found = new Map(names.map((name) => [name, casesFailedBy(name)]));
  expect(names.filter((name) => found.get(name)?.length === 0)).toEqual([]);
  const asked = names.filter((_, at) => at % 3 === 0);
  const stdio = await runForEach(asked, async (name) => (await runOverStdio(name)).found);
  expect(asked.length).toBeGreaterThanOrEqual(40);
  expect(asked.map((name) => stdio.get(name))).toEqual(asked.map((name) => found.get(name)));

  const told = cases.map(({ id, finds, witness }) => ({ id, finds, witness }));
  const measured = cases.map(({ id }) => {
    const by = names.filter((name) => found.get(name)?.includes(id));
    const finds = by.find((name) => found.get(name)?.length === 1);
    return { id, finds, witness: finds === undefined ? by[0] : undefined };
  });
  expect(told).toEqual(measured);

  const http = await runForEach(names, (name) =>
    judgeResults(examineReceiver(base + encodeURIComponent(name), options)).catch((error: Error) => {
      expect(error.message).toContain('to a valid delivery');
      const skipped: string[] = [];
      return { found: ['body-good'], skipped };
    }),
  );
  // Some faults show only where HTTP does not reach: in the settings, or in headers that it cannot carry.
  const reachable = names.filter((name) =>
    found.get(name)?.some((id) => !http.get(name)?.skipped.includes(id)),
  );
  expect(reachable.filter((name) => http.get(name)?.found.length === 0)).toEqual([]);
  expect(reachable.length).toBeGreaterThanOrEqual(40);
  console.log(
    `${names.length} planted faults found, ${asked.length} of them over stdio and ${reachable.length} over HTTP, by ${cases.length} cases`,
  );
});
