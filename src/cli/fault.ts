import { escapeInvisible } from '../input/visible.js';
import { InvalidOptions } from '../sandbox/checks.js';
import { tampers } from '../sandbox/delivery/signing.js';
import { malformedFaults, networkFaults, readOrder } from '../sandbox/faults.js';
import { type Flags, type FlagTable, jsonOrText, refuseWords } from './command.js';
import { runningCommand } from './control.js';
import { refuseUnknown, refuseUnless, UsageError } from './terminal.js';

const flags = {
  method: ['<method>', 'only requests with this method; default: every one'],
  path: ['<path>', 'only requests to this exact path, such as /v1/products'],
  times: ['<n>', 'how many requests or deliveries it affects; default 1'],
  when: ['<before|after>', 'before the work is done (default), or after (default of html and truncated)'],
  delay: ['<duration>', 'responds or delivers this much later, such as 2s'],
  body: ['<text>', 'with status: the body of the response, JSON or text', { mayBeEmpty: true }],
  header: ['<name: value>', 'with status: a header of the response', { multiple: true }],
  drop: ['', 'with webhook: loses the first attempt; retries follow'],
  hold: ['', 'with webhook: holds the event until you deliver it'],
  duplicate: ['<n>', 'with webhook: sends it this many more times'],
  tamper: ['<how>', `with webhook: corrupts it: ${tampers.join(', ')}`],
  list: ['', 'lists the pending faults'],
} satisfies FlagTable;

export const fault = runningCommand<{ faults: { says: string }[] }>()({
  summary: 'sets a fault in a running sandbox',
  usage: `fault <what> [flags]

  fault status <status>    responds with this status instead of doing the work
  fault ${networkFaults.join(' | ').padEnd(18)} breaks the connection, or never responds
  fault ${malformedFaults.join(' | ').padEnd(18)} sends a web page, or half of the response
  fault delay <duration>   responds late
  fault webhook            drops, delays or corrupts the next delivery: --drop, --hold, --duplicate, --tamper, --delay
  fault clear              removes all pending faults
  fault --list             lists the pending faults`,
  example: 'fault status 503 --times 2 --path /v1/products',
  flags,
  words: Number.POSITIVE_INFINITY,
  request(given) {
    const [word, ...values] = given.positionals;
    if (word === undefined && given.has('list')) {
      const other = given.passed.find((name) => name !== 'list' && Object.hasOwn(flags, name));
      refuseUnless(other === undefined, `--${other} does not go with --list.`);
      return ['GET', '/faults'];
    }
    const what = given.word('fault', 'fault status 503. Or --list.');
    return ['POST', '/faults', orderOf(what, values, given)];
  },
  describe: ({ faults }) =>
    faults.length === 0
      ? 'No fault is waiting.'
      : ['Waiting to happen:', ...faults.map(({ says }) => `  ${escapeInvisible(says)}`)].join('\n'),
});

/** The fault that each word sets. An entry with an example takes a value, which is the next word. */
const kinds = new Map<string, readonly [order: (value: string) => object, example?: string]>([
  ['status', [(value) => ({ status: /^\d+$/.test(value) ? Number(value) : value }), '503']],
  ...networkFaults.map((network) => [network, [() => ({ network })]] as const),
  ...malformedFaults.map((malformed) => [malformed, [() => ({ malformed })]] as const),
  ['delay', [(delay) => ({ delay }), '2s']],
  ['webhook', [() => ({ webhook: true })]],
  ['clear', [() => ({ clear: true })]],
]);

/** Flags that set the field of the same name to their text. */
const texts = ['delay', 'method', 'path', 'when', 'tamper'] as const;
/** Flags that set the field of the same name to `true`. */
const switches = ['drop', 'hold'] as const;

/** Returns the fault that the words and flags describe. It passes the checks of `failNext()`. */
function orderOf(what: string, words: readonly string[], given: Flags<keyof typeof flags>): object {
  const kind = kinds.get(what);
  const [order, example] = kind ?? refuseUnknown(what, 'a fault', [...kinds.keys()]);
  refuseWords(words.slice(example === undefined ? 0 : 1));
  const [value = ''] = words;
  refuseUnless(value || !example, `The value is missing. Pass one, such as: fault ${what} ${example}`);
  refuseUnless(what !== 'delay' || !given.has('delay'), '--delay does not go with delay.');
  refuseUnless(!given.has('list'), `--list does not go with ${what}.`);
  const more: (readonly [field: string, value: unknown])[] = [
    ...texts.map((name) => [name, given.text(name)] as const),
    ['times', given.integer('times', 1, 1_000_000)],
    ['duplicate', given.integer('duplicate', 1, 100)],
    ...switches.map((name) => [name, given.has(name) || undefined] as const),
    ['body', jsonOrText(given.text('body'))],
    ['headers', headersOf(given.list('header'))],
  ];
  const passed = more.filter(([, value]) => value !== undefined);
  const hasWay = what !== 'webhook' || passed.some(([field]) => field !== 'times');
  refuseUnless(hasWay, 'Pass what happens to it: --drop, --hold, --duplicate, --tamper or --delay.');
  const fault = { ...order(value), ...Object.fromEntries(passed) };
  try {
    readOrder(fault, 'fault');
    return fault;
  } catch (error) {
    const [issue] = InvalidOptions.issuesOf(error) ?? [];
    if (!issue) throw error;
    const flag = issue.path.replace(/^headers.*/, 'header');
    const isFlag = Object.hasOwn(flags, flag) && what !== flag;
    throw new UsageError(`${isFlag ? '--' : ''}${flag} ${issue.message}`);
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
