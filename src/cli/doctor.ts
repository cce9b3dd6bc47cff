import * as z from 'zod/mini';
import { type DoctorOptions, diagnose, readOrderPrice } from '../doctor/doctor.js';
import { TargetError } from '../sending/address.js';
import { secretProblem } from '../sending/delivery.js';
import { command, type Flags, type FlagTable } from './command.js';
import { ask, readAs, runningFlags } from './control.js';
import { readSchemeFlag, schemeFlag, webhookSecret } from './signing.js';
import {
  CommandError,
  literal,
  paint,
  paragraphs,
  refuseUnless,
  show,
  UsageError,
  verdict,
  warn,
} from './terminal.js';

const flags = {
  amount: ['<amount>', 'the amount of the test order; default 98765.43, which no shop charges'],
  currency: ['<code>', 'its currency; default USD'],
  scheme: schemeFlag,
  'allow-remote': ['', 'also examines a public address, which then receives signed fake payments'],
  ...runningFlags,
  json: ['', 'prints the diagnosis as JSON'],
} satisfies FlagTable;

type Name = keyof typeof flags;

const exampleUrl = 'http://localhost:3000/webhooks';

export const doctor = command({
  summary: 'explains why valid webhooks are rejected, and the line to change: doctor <url>',
  usage:
    'doctor [<url of your webhook>] [flags]\n\n' +
    'With a URL, the secret is read from PAYMENTS_WEBHOOK_SECRET, or you are prompted for it. Without one, a running sandbox examines\n' +
    'its configured webhook. Exit code 1 on a finding.',
  example: `doctor ${exampleUrl}`,
  flags,
  words: 1,
  async run(given) {
    const [target] = given.positionals;
    const isUrl = /^https?:\/\/./i.test(target ?? exampleUrl);
    refuseUnless(isUrl, `Pass one URL: your webhook, such as ${exampleUrl}.`);
    const price = { amount: given.text('amount'), currency: given.text('currency') };
    const { problem } = readOrderPrice(price);
    refuseUnless(problem === undefined, `--${problem}`);
    let step = target === undefined ? 'the deliveries of the sandbox' : '';
    const onStep = (next: string) => {
      step = next;
    };
    // On stderr, what takes longer than a second.
    const progress = setInterval(() => {
      if (step) warn(`Waiting for the response to: ${step} …`);
      step = '';
    }, 1000);
    try {
      const diagnosis = await (target === undefined
        ? fromSandbox(given, price)
        : examine(target, given, { ...price, onStep }));
      const shown = readAs(report, diagnosis);
      return show(given.has('json'), diagnosis, () => reportOf(shown), shown.ok);
    } finally {
      clearInterval(progress);
    }
  },
});

async function examine(target: string, given: Flags<Name>, options: DoctorOptions): Promise<object> {
  const ofSandbox = '--url and --token name a running sandbox, which examines its own webhook: pass no URL.';
  refuseUnless(!given.has('url') && !given.has('token'), ofSandbox);
  const scheme = readSchemeFlag(given.text('scheme'));
  const secret = await webhookSecret();
  const problem = secretProblem(secret, scheme ?? {});
  if (problem !== undefined) throw new CommandError(`PAYMENTS_WEBHOOK_SECRET: ${problem}`);
  try {
    return await diagnose({ target, secret, scheme, allowRemote: given.has('allow-remote'), ...options });
  } catch (error) {
    if (error instanceof TargetError) throw new UsageError(`The URL of your webhook: ${error.message}`);
    throw error;
  }
}

async function fromSandbox(given: Flags<Name>, price: DoctorOptions): Promise<object> {
  const ofUrl = '--scheme and --allow-remote go with a URL; a running sandbox has settings of its own.';
  refuseUnless(!given.has('scheme') && !given.has('allow-remote'), ofUrl);
  try {
    return await ask(given, ['POST', '/doctor', price]);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const other = `Or pass the URL of your webhook: merchant-payments doctor ${exampleUrl}`;
    throw new CommandError(`${error.message}\n${other}`);
  }
}

const text = z.string();
const number = z.number();
const status = z.optional(number);
const probe = z.object({ says: text, expected: text, outcome: text, status, durationMs: number });
const finding = z.object({ code: text, docs: text, problem: text, fix: text, evidence: z.optional(text) });

/** The part of a diagnosis that is shown, which a running sandbox of this version responds with. */
const report = z.object({
  ok: z.boolean(),
  target: text,
  summary: text,
  findings: z.array(finding),
  warnings: z.array(finding),
  notes: z.array(text),
  probes: z.array(probe),
  tried: number,
  expects: z.optional(z.looseObject({})),
});

type Report = z.output<typeof report>;

function reportOf(diagnosis: Report): string {
  const { ok, target, summary, findings, warnings, notes, probes, tried, expects = {} } = diagnosis;
  const [first, ...others] = findings;
  return paragraphs(
    verdict(ok, summary) + (first ? details(first) : ''),
    ...others.map((one) => verdict(false, `${one.problem} ${one.fix}`) + details(one)),
    ...warnings.map((one) => paint('yellow', `! ${one.problem} ${one.fix}`) + details(one)),
    Object.keys(expects).length > 0 && `  It would accept: ${literal(expects)}`,
    `Sent to ${target}:`,
    table(probes),
    tried > 0 && `Then ${tried} other ways to sign, to find out what it would accept.`,
    ...notes,
  );
}

const details = ({ code, evidence, docs }: Report['findings'][number]): string =>
  `${evidence === undefined ? '' : `\n  ${evidence}`}\n${paint('dim', `  ${code}: see ${docs}`)}`;

function table(probes: Report['probes']): string {
  const width = Math.max(...probes.map(({ says }) => says.length));
  const rows = probes.map(({ says, expected, outcome, status, durationMs }) => {
    const response = outcome === 'no response' ? outcome : `${outcome} (${status})`;
    const row = `  ${says.padEnd(width)}  ${response.padEnd(14)}  ${String(Math.round(durationMs)).padStart(6)} ms`;
    return [expected, 'no response'].includes(outcome) ? row : paint('red', `${row}  ← must be ${expected}`);
  });
  return rows.join('\n');
}
