import * as z from 'zod/mini';
import { InvalidField } from '../sandbox/checks.js';
import { tampers } from '../sandbox/delivery/signing.js';
import { malformedFaults, networkFaults, readFault } from '../sandbox/faults.js';
import { didYouMean } from '../schemas/closest.js';
import { visible } from '../schemas/visible.js';
import { type Flags, jsonOrText, refuseWords } from './command.js';
import { runningCommand } from './running.js';
import { UsageError } from './terminal.js';

const flags = {
  method: { value: '<method>', text: 'only requests with this method; default: every one' },
  path: { value: '<path>', text: 'only requests to this exact path, such as /v1/products' },
  times: { value: '<n>', text: 'how often it happens; default 1' },
  when: {
    value: '<before|after>',
    text: 'after: the work is done and its response lost; default before; for a broken response, after',
  },
  delay: { value: '<duration>', text: 'waits before it happens, such as 2s' },
  body: { value: '<text>', text: 'of a status: the body of the response, JSON or text', mayBeEmpty: true },
  header: {
    value: '<name: value>',
    text: 'of a status: a header of the response; may be repeated',
    multiple: true,
  },
  drop: { text: 'of webhook: loses the first attempt; the retries come' },
  hold: { text: 'of webhook: holds the event until you deliver it' },
  duplicate: { value: '<n>', text: 'of webhook: sends it this many more times' },
  tamper: { value: '<how>', text: `of webhook: spoils it: ${tampers.join(', ')}` },
  list: { text: 'lists the faults that have not happened yet' },
} as const;

export const fault = runningCommand({
  summary: 'sets a fault in a running sandbox: fault status 503 --times 2 --path /v1/products',
  usage: `fault <what> [flags]

  fault status <status>    responds with this status instead of doing the work
  fault reset              breaks the connection: ${networkFaults.join(', ')}
  fault html               breaks the response: ${malformedFaults.join(', ')}
  fault delay <duration>   responds late
  fault webhook            drops, delays or corrupts the next delivery: --drop, --hold, --duplicate, --tamper, --delay
  fault clear              takes back all that have not happened
  fault --list             shows them`,
  example: 'fault status 503 --times 2 --path /v1/products',
  flags,
  words: Number.POSITIVE_INFINITY,
  request(given) {
    const [what, ...values] = given.positionals;
    if (what !== undefined) return ['POST', '/faults', ordered(what, values, given)];
    if (given.has('list')) return ['GET', '/faults'];
    throw new UsageError('Pass the fault, such as: fault status 503. Or --list.');
  },
  content: z.object({ faults: z.array(z.object({ says: z.string() })) }),
  says: ({ faults }) =>
    faults.length === 0
      ? 'No fault is waiting.'
      : ['Waiting to happen:', ...faults.map(({ says }) => `  ${visible(says)}`)].join('\n'),
});

/** The kinds of faults by their word, and what they order; `value` is the word after it. */
const kinds = new Map<string, (value: string | undefined) => object>([
  ['status', (value) => ({ status: Number(value) })],
  ...networkFaults.map((network) => [network, () => ({ network })] as const),
  ...malformedFaults.map((malformed) => [malformed, () => ({ malformed })] as const),
  ['delay', (delay) => ({ delay })],
  ['webhook', () => ({ webhook: true })],
  ['clear', () => ({ clear: true })],
]);

/** What the words and flags order, checked as `failNext()` does. */
function ordered(what: string, words: readonly string[], given: Flags<keyof typeof flags>): object {
  const kind = kinds.get(what);
  if (!kind)
    throw new UsageError(`${JSON.stringify(what)} is not a fault. ${didYouMean(what, [...kinds.keys()])}`);
  refuseWords(words.slice(what === 'status' || what === 'delay' ? 1 : 0));
  const [value] = words;
  if (what === 'clear') return kind(value);
  if (what === 'delay' && value === undefined)
    throw new UsageError('Pass the duration, such as: fault delay 2s');
  if (what === 'delay' && given.text('delay') !== undefined)
    throw new UsageError('--delay does not go with: fault delay');
  const more = {
    delay: given.text('delay'),
    method: given.text('method'),
    path: given.text('path'),
    when: given.text('when'),
    tamper: given.text('tamper'),
    times: given.integer('times', 1, 1_000_000),
    duplicate: given.integer('duplicate', 1, 100),
    drop: given.has('drop') || undefined,
    hold: given.has('hold') || undefined,
    body: jsonOrText(given.text('body')),
    headers: headersOf(given.list('header')),
  };
  const passed = Object.entries(more).filter(([, one]) => one !== undefined);
  if (what === 'webhook' && passed.every(([name]) => name === 'times'))
    throw new UsageError('Pass what happens to it: --drop, --hold, --duplicate, --tamper or --delay.');
  const fault = { ...kind(value), ...Object.fromEntries(passed) };
  try {
    readFault(fault, 'fault');
    return fault;
  } catch (error) {
    if (!(error instanceof InvalidField)) throw error;
    const { field, problem } = error;
    const flag = field === 'headers' ? 'header' : field;
    if (problem.startsWith(' is not a field'))
      throw new UsageError(`--${flag} does not go with: fault ${what}`);
    throw new UsageError(`${Object.hasOwn(flags, flag) ? '--' : ''}${flag}${problem}`);
  }
}

function headersOf(lines: readonly string[]): Record<string, string> | undefined {
  const headers = lines.map((line) => {
    const [, name, value] = /^([\w-]+):\s*(.*)$/.exec(line) ?? [];
    if (name !== undefined && value !== undefined) return [name, value] as const;
    throw new UsageError("--header: pass a name and a value, such as 'retry-after: 7'.");
  });
  return headers.length > 0 ? Object.fromEntries(headers) : undefined;
}
