import { type Diagnosis, type DoctorOptions, diagnose, priceShape } from '../doctor/doctor.js';
import { tallyOf } from '../doctor/examination.js';
import type { Finding } from '../doctor/findings.js';
import { TargetError } from '../sending/address.js';
import { secretProblem } from '../sending/delivery.js';
import { command, type Flags, type FlagTable } from './command.js';
import { ask, runningFlags } from './control.js';
import { withScheme } from './serving.js';
import { readSchemeFlag, schemeFlag, secretVariable, webhookSecret } from './signing.js';
import {
  CommandError,
  literal,
  paint,
  paragraphs,
  readWord,
  refuseUnless,
  show,
  UsageError,
  variable,
  verdict,
  warn,
} from './terminal.js';

const flags = {
  url: ['<url>', 'the URL of your webhook, in place of the argument'],
  verbose: ['', 'lists every delivery and its response'],
  amount: ['<amount>', 'amount of each test order; default 98765.43, which no shop charges'],
  currency: ['<code>', 'currency of each test order; default USD'],
  scheme: schemeFlag,
  'allow-remote': ['', 'also examines a public address, which then receives signed fake payments'],
  ...runningFlags,
  json: ['', 'prints the diagnosis as JSON'],
} satisfies FlagTable;

type Name = keyof typeof flags;

const exampleUrl = 'http://localhost:3000/webhooks';

export const doctor = command({
  summary:
    'explains why your handler rejects valid webhooks or accepts forged ones, and names the line to change',
  usage:
    'doctor [<url of your webhook>] [flags]\n\n' +
    'Without a URL, a running sandbox examines its webhook. With one, the secret is read from PAYMENTS_WEBHOOK_SECRET. If that is\n' +
    'not set, a running sandbox that sends to this URL examines it; if there is none, you are prompted for the secret.\n' +
    'Exit code 1 on a finding.',
  example: `doctor ${exampleUrl}`,
  flags,
  words: 1,
  async run(given) {
    const { positionals } = given;
    refuseUnless(
      positionals.length === 0 || !given.has('url'),
      'Pass the URL once: as the argument or as --url.',
    );
    const target = withScheme(positionals[0] ?? given.text('url'));
    const isUrl = /^https?:\/\/./i.test(target ?? exampleUrl);
    refuseUnless(isUrl, `Pass one URL: your webhook, such as ${exampleUrl}.`);
    const amount = readWord('--amount', priceShape.amount, given.text('amount'));
    const currency = readWord('--currency', priceShape.currency, given.text('currency'));
    const price = { amount, currency };
    let step = target === undefined ? 'the deliveries of the sandbox' : '';
    const onStep = (next: string) => {
      step = next;
    };
    // A step that takes longer than a second is reported on stderr.
    const progress = setInterval(() => {
      if (step) warn(`Waiting for the response to: ${step} …`);
      step = '';
    }, 1000);
    try {
      const diagnosis = await (target === undefined
        ? fromSandbox(given, price)
        : examine(target, given, { ...price, onStep }));
      return show(
        given.has('json'),
        diagnosis,
        () => reportOf(diagnosis, given.has('verbose')),
        diagnosis.ok,
      );
    } finally {
      clearInterval(progress);
    }
  },
});

async function examine(target: string, given: Flags<Name>, options: DoctorOptions): Promise<Report> {
  const webhook = variable(secretVariable) === undefined ? await webhookOfSandbox(given) : undefined;
  const isOwn = webhook !== undefined && URL.canParse(target) && webhook === new URL(target).href;
  if (given.has('sandbox') || isOwn) return fromSandbox(given, { ...priceOf(options), target });
  const scheme = readSchemeFlag(given.text('scheme'));
  const or = webhook
    ? `A running sandbox sends to ${webhook}: to have it examined, pass no URL.`
    : 'Or pass the address of your sandbox: --sandbox <url>';
  const secret = await webhookSecret(` ${or}`);
  const problem = secretProblem(secret, scheme ?? {});
  if (problem !== undefined) throw new CommandError(`${secretVariable} ${problem}`);
  try {
    return await diagnose({ target, secret, scheme, allowRemote: given.has('allow-remote'), ...options });
  } catch (error) {
    if (error instanceof TargetError) throw new UsageError(`The URL of your webhook ${error.message}`);
    throw error;
  }
}

/** Returns the URL to which a running sandbox sends, and whose secret the sandbox knows; `undefined` if there is none. */
async function webhookOfSandbox(given: Flags<Name>): Promise<string | undefined> {
  try {
    const { webhook } = await ask<{ webhook: string | null }>(given, ['GET', '/state']);
    return webhook === null ? undefined : new URL(webhook).href;
  } catch {
    return undefined;
  }
}

const priceOf = ({ amount, currency }: DoctorOptions) => ({ amount, currency });

async function fromSandbox(given: Flags<Name>, order: DoctorOptions & { target?: string }): Promise<Report> {
  const ofUrl =
    '--scheme and --allow-remote do not go with a running sandbox, which has settings of its own.';
  refuseUnless(!given.has('scheme') && !given.has('allow-remote'), ofUrl);
  try {
    return await ask<Report>(given, ['POST', '/doctor', order]);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    const other = `Or pass the URL of your webhook: merchant-payments doctor ${exampleUrl}`;
    throw new CommandError(`${error.message}\n${other}`);
  }
}

/** A diagnosis made in this process, or by a running sandbox. */
type Report = Omit<Diagnosis, 'expects'> & { expects?: object | undefined };

/** Returns the report: the findings with evidence and fix, then the other results, then the verdict. */
function reportOf(diagnosis: Report, verbose: boolean): string {
  const { ok, target, summary, findings, warnings, notes, probes, tried, expects = {} } = diagnosis;
  const more = verbose ? `to ${target}:\n${table(probes)}` : `to ${target} (--verbose lists them).`;
  const [first, ...others] = findings;
  const also = others.length > 0 ? ` (And ${others.length} more, above.)` : '';
  return paragraphs(
    ...findings.map((one) => paint('red', `✗ ${one.problem}`) + details(one)),
    ...warnings.map((one) => paint('yellow', `! ${one.problem}`) + details(one)),
    Object.keys(expects).length > 0 && `  It would accept: ${literal(expects)}`,
    notes.join('\n'),
    `${tallyOf(probes)}, ${more}` +
      (tried > 0 ? `\nThen ${tried} other ways to sign, to find out what it would accept.` : ''),
    verdict(ok, first ? first.problem + also : summary),
  );
}

const details = ({ code, evidence, fix }: Finding): string =>
  `${evidence === undefined ? '' : `\n  ${evidence}`}\n  Fix: ${fix} ${paint('dim', `[${code}]`)}`;

function table(probes: Report['probes']): string {
  const width = Math.max(...probes.map(({ says }) => says.length));
  const rows = probes.map(({ says, expected, outcome, status, durationMs }) => {
    const response = outcome === 'no response' ? outcome : `${outcome} (${status})`;
    const row = `  ${says.padEnd(width)}  ${response.padEnd(14)}  ${String(Math.round(durationMs)).padStart(6)} ms`;
    return [expected, 'no response'].includes(outcome) ? row : paint('red', `${row}  ← must be ${expected}`);
  });
  return rows.join('\n');
}
