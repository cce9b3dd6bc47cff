import { randomInt } from 'node:crypto';
import {
  type BookLine,
  BooksCommandError,
  LineError,
  readOpened,
  readSettledBooks,
  runBooks,
} from '../crash-test/books.js';
import { currency, listOrders, makePlan, type OpenOrder, type Plan } from '../crash-test/plan.js';
import { answersAt, Program, ProgramError } from '../crash-test/program.js';
import { type CrashReport, explain, findingInWords, summary } from '../crash-test/report.js';
import { type Answer, hasSucceeded, runPlan } from '../crash-test/run.js';
import { runShell } from '../crash-test/shell.js';
import { countUnanswered, isComplete, judge } from '../crash-test/verdict.js';
import { createSandbox } from '../sandbox/index.js';
import { freePort } from '../sending/ports.js';
import { programEnvironment } from '../sending/program.js';
import { command, type Flags, type FlagTable } from './command.js';
import { withInbox } from './inbox-place.js';
import { readSchemeFlag, schemeFlag } from './signing.js';
import { CommandError, paint, paragraphs, print, refuseUnless, verdict, warn } from './terminal.js';

const flags = {
  'webhook-path': ['<path>', 'the path of your receiver; each instance gets a PORT to listen on'],
  'webhook-url': ['<url>', 'in place of the path: the address of your receiver, for one instance'],
  books: ['<command>', 'prints what your shop has fulfilled, one order a line: order_id,amount or JSON'],
  inbox: ['<file or url>', 'what is parked in this inbox of openInbox() counts as held'],
  open: [
    '<command>',
    'opens the orders in your shop: reads them as JSON lines, and may print them with the amounts of your shop',
  ],
  orders: ['<number>', 'how many orders are paid; default 200'],
  instances: ['<number>', 'how many copies of the program run at once; default 1'],
  seed: ['<integer>', 'the same integer gives the same orders, deliveries and kills; default: a random one'],
  settle: ['<duration>', 'how long the books may take to settle; default 90s'],
  scheme: schemeFlag,
  retries: ['', 'retries what got no 2xx after 5 s, 30 s, 2 min and 10 min, as the sandbox does'],
  json: ['', 'prints the verdict as JSON, all else on standard error'],
} satisfies FlagTable;

type Name = keyof typeof flags;

/** A reason why the test cannot run. `--json` prints its code; the exit code is 2. */
class CannotTest extends Error {
  readonly code: string;
  readonly line: number | undefined;

  constructor(code: string, message: string, line?: number) {
    super(message);
    this.code = code;
    this.line = line;
  }
}

const startMs = 60_000;
const retryMs = [5000, 30_000, 120_000, 600_000];

export const crashTest = command({
  summary: 'kills your shop while it takes payments, and compares its books with what was paid',
  usage:
    'crash-test [flags] --books <command> -- <command…>\n\n' +
    'Runs the command beside a sandbox, sends it what a service may send, kills it and starts it again. Exit code 1 on a finding,\n' +
    '2 if the test could not run.',
  example: `crash-test --webhook-path /webhooks --books "sqlite3 -csv shop.sqlite 'SELECT order_id, amount FROM paid'" -- node shop.mjs`,
  flags,
  passesOn: true,
  async run(given, program) {
    const asJson = given.has('json');
    const interrupt = new AbortController();
    const stop = () => interrupt.abort();
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, stop);
    try {
      const report = await test(given, program, interrupt.signal);
      if (asJson) print(JSON.stringify(report));
      else print(reportInWords(report));
      if (report.interrupted) return 130;
      return report.ok ? 0 : 1;
    } catch (error) {
      const isInterrupted = interrupt.signal.aborted;
      const interrupted = new CannotTest('interrupted', 'Interrupted before anything was judged.');
      const { code, message, line } = isInterrupted ? interrupted : toCannotTest(error);
      if (asJson) print(JSON.stringify({ ok: false, error: { code, message, ...(line && { line }) } }));
      else warn(message);
      return isInterrupted ? 130 : 2;
    } finally {
      for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.off(signal, stop);
    }
  },
});

async function test(
  given: Flags<Name>,
  command: readonly string[],
  signal: AbortSignal,
): Promise<CrashReport> {
  const instances = given.integer('instances', 1, 16) ?? 1;
  const booksCommand = given.text('books');
  refuseUnless(booksCommand, '--books is missing. Pass a command that prints what your shop has fulfilled.');
  const path = given.text('webhook-path');
  const url = given.url('webhook-url');
  refuseUnless((path === undefined) !== (url === undefined), 'Pass --webhook-path or --webhook-url.');
  refuseUnless(path === undefined || path.startsWith('/'), '--webhook-path begins with /, as in /webhooks.');
  refuseUnless(
    url === undefined || instances === 1,
    '--instances goes with --webhook-path, not with an address.',
  );
  const scheme = readSchemeFlag(given.text('scheme')) ?? {};
  const settleMs = given.duration('settle', 0, '1h') ?? 90_000;
  const booksSignal = abortLater(signal, 5000); // after Ctrl-C, the books are read once
  const seed = given.integer('seed', 0, 2 ** 31 - 1) ?? randomInt(2 ** 31);
  const openCommand = given.text('open');
  warn(`Seed ${seed}.`);
  const orders = listOrders(given.integer('orders', 20, 10_000) ?? 200, openCommand !== undefined);

  if (url !== undefined && (await answersAt(url))) {
    const message = `Something answers at ${url} before your program was started. Stop it: it would get the deliveries.`;
    throw new CannotTest('port_taken', message);
  }
  const sandbox = await createSandbox({ unspecified: { signature: scheme } }).listen();
  const ports = await portsFor(instances);
  const programs = ports.map(
    (port) =>
      new Program({
        command,
        env: programEnvironment(sandbox, port),
        url: url ?? `http://localhost:${port}${path}`,
        startMs,
      }),
  );
  const abandon = () => void Promise.all(programs.map((program) => program.stop()));
  signal.addEventListener('abort', abandon);
  const progress = progressLine();
  try {
    await Promise.all(programs.map((program) => program.waitUntilReady()));
    const env = programEnvironment(sandbox, ports[0]);
    const inbox = given.text('inbox');
    const read = async (): Promise<BookLine[]> => [
      ...(await runBooks(booksCommand, env, booksSignal)),
      ...(inbox === undefined ? [] : await readParked(inbox)),
    ];
    await refuseFilledBooks(read, signal);
    const isOpening = openCommand !== undefined && !signal.aborted;
    const opened = isOpening ? await openOrders(openCommand, orders, env, signal) : orders;
    const plan = makePlan({ seed, orders: opened, instances });
    progress.begin(plan);
    const answers = await runPlan({
      plan,
      programs,
      secret: sandbox.webhookSecret,
      scheme,
      signal,
      onProgress: progress.show,
      ...(given.has('retries') && { retryMs }),
    });
    progress.end();
    if (!signal.aborted && !answers.some(hasSucceeded)) throw noneAcceptedError(answers, programs);
    const sentAt = performance.now();
    const books = await readSettledBooks(read, (lines) => isComplete(plan, answers, lines), settleMs, signal);
    const settledMs = Math.round(performance.now() - sentAt);
    if (!signal.aborted && books.length > 0 && books.every(({ isHeld }) => isHeld))
      throw allHeld(openCommand);
    return reportOf(plan, answers, books, programs, settledMs, signal.aborted);
  } finally {
    progress.end();
    signal.removeEventListener('abort', abandon);
    await Promise.all(programs.map((program) => program.stop()));
    await sandbox.close();
  }
}

/** Throws if the books are not empty. Orders of an earlier run with this seed have the same ids, so that none would be missing. */
async function refuseFilledBooks(read: () => Promise<BookLine[]>, signal: AbortSignal): Promise<void> {
  try {
    if (signal.aborted) return;
    const [line] = await read();
    if (!line) return;
    const message = `The books have ${line.orderId} before the first delivery. Give your shop an empty database for each run.`;
    throw new CannotTest('books_not_empty', message);
  } catch (error) {
    if (!(error instanceof BooksCommandError || error instanceof CommandError)) throw error;
    if (signal.aborted) return;
    // A shop may make its table with its first order.
    warn(
      `${error.message}\nThat was before the first delivery. The test goes on, and reads the books at the end.`,
    );
  }
}

/** Returns the error for a shop that kept every payment for a person: none of them was for an order that it knows. */
function allHeld(openCommand: string | undefined): CannotTest {
  const remedy =
    openCommand === undefined
      ? 'If it matches payments with its own orders, pass --open, which opens them.'
      : 'Check that --open opens the orders, and prints their amounts.';
  return new CannotTest('none_fulfilled', `The shop held every payment, and fulfilled none. ${remedy}`);
}

/** Returns the error for a receiver that took nothing: whatever its shop does, nothing would be found. */
function noneAcceptedError(answers: readonly Answer[], programs: readonly Program[]): CannotTest {
  const statuses = answers.map(({ status }) => (status === undefined ? 'no response' : String(status)));
  const commonest = [...new Set(statuses)]
    .toSorted((one, other) => count(statuses, other) - count(statuses, one))
    .at(0);
  const ends = programs.reduce((sum, { endsByItself }) => sum + endsByItself, 0);
  const end = ends > 0 ? ` The program ended by itself ${ends} times.${programs[0]?.lastLines()}` : '';
  const remedy = 'Check --webhook-path and the secret: merchant-payments doctor says what is wrong.';
  return new CannotTest('none_accepted', `No delivery got a 200, most of them ${commonest}. ${remedy}${end}`);
}

const count = (list: readonly string[], value: string): number =>
  list.filter((each) => each === value).length;

/** Returns a signal that is aborted some time after another one. */
function abortLater(signal: AbortSignal, ms: number): AbortSignal {
  const later = new AbortController();
  signal.addEventListener('abort', () => setTimeout(() => later.abort(), ms).unref());
  return later.signal;
}

async function portsFor(instances: number): Promise<number[]> {
  const ports = new Set<number>();
  while (ports.size < instances) ports.add(await freePort());
  return [...ports];
}

/** Returns the orders that the shop has opened: those that its command printed, or the given ones if it printed nothing. */
async function openOrders(
  openCommand: string,
  orders: readonly OpenOrder[],
  env: NodeJS.ProcessEnv,
  signal: AbortSignal,
): Promise<readonly OpenOrder[]> {
  const lines = orders.map((order) => JSON.stringify({ ...order, currency }));
  const input = `${lines.join('\n')}\n`;
  const { code, output, errors } = await runShell(openCommand, env, { input, signal });
  if (code !== 0)
    throw new CannotTest('open_failed', `The --open command ended with ${code}: ${errors || output}`);
  const opened = readOpened(output);
  return opened.length > 0 ? opened : orders;
}

/** Returns the parked deliveries of an inbox as book lines that are held for a person. */
function readParked(place: string): Promise<BookLine[]> {
  return withInbox(place, undefined, async (inbox) => {
    const lines: BookLine[] = [];
    for (let after: string | undefined; ; ) {
      const page = await inbox.list({ state: 'parked', limit: 1000, after });
      for (const { event } of page)
        lines.push({ orderId: /ord_\w+/.exec(JSON.stringify(event))?.[0] ?? '', isHeld: true });
      after = page.at(-1)?.key;
      if (after === undefined) return lines;
    }
  });
}

function reportOf(
  plan: Plan,
  answers: readonly Answer[],
  books: readonly BookLine[],
  programs: readonly Program[],
  settledMs: number,
  interrupted: boolean,
): CrashReport {
  // An interrupted run has not waited for the books, so missing payments are no findings.
  const unfinished = ['lost', 'conflict_dropped'];
  const found = judge(plan, answers, books).filter(({ code }) => !interrupted || !unfinished.includes(code));
  const unanswered = countUnanswered(plan, answers);
  return {
    ok: !interrupted && found.every(({ isWarning }) => isWarning),
    seed: plan.seed,
    orders: plan.orders.length,
    delivered: plan.orders.length - unanswered,
    unanswered,
    kills: programs.reduce((sum, { kills }) => sum + kills, 0),
    endedByItself: programs.reduce((sum, { endsByItself }) => sum + endsByItself, 0),
    settledMs,
    interrupted,
    findings: explain(found),
  };
}

function reportInWords(report: CrashReport): string {
  const findings = report.findings.map((finding) => {
    const { title, lines } = findingInWords(finding);
    const head = finding.warning ? paint('yellow', `! ${title}`) : verdict(false, title);
    return [head, ...lines.map((line) => `  ${line}`)].join('\n');
  });
  return paragraphs(...findings, verdict(report.ok, summary(report)));
}

/** Shows the progress on standard error: one line that is rewritten on a terminal, a line every five seconds elsewhere. */
function progressLine() {
  let planned = 0;
  let deliveries = 0;
  let text = '';
  const isTerminal = process.stderr.isTTY;
  const timer = setInterval(() => text && warn(text), 5000);
  if (isTerminal) clearInterval(timer);
  return {
    begin(plan: Plan): void {
      planned = plan.deliveries.filter(({ kill }) => kill && kill.signal !== 'SIGSTOP').length;
      deliveries = plan.deliveries.length;
      warn(`${plan.orders.length} orders, ${deliveries} deliveries.`);
    },
    show(delivered: number, kills: number): void {
      text = `${delivered}/${deliveries} delivered, ${kills} of ${planned} kills`;
      if (isTerminal) process.stderr.write(`\r${text}\u001b[K`);
    },
    end(): void {
      clearInterval(timer);
      if (isTerminal && text) process.stderr.write('\r\u001b[K');
      text = '';
    },
  };
}

function toCannotTest(error: unknown): CannotTest {
  if (error instanceof CannotTest) return error;
  if (error instanceof ProgramError) return new CannotTest(error.code, error.message);
  if (error instanceof LineError) return new CannotTest(error.code, error.message, error.line);
  if (error instanceof BooksCommandError || error instanceof CommandError)
    return new CannotTest('books_failed', error.message);
  throw error;
}
