import type { CrashFinding, CrashFindingCode } from './verdict.js';

/** The verdict of a run, as `--json` prints it. */
export interface CrashReport {
  ok: boolean;
  seed: number;
  orders: number;
  /** Orders that were answered with a 2xx. */
  delivered: number;
  /** Orders that were never answered with a 2xx. */
  unanswered: number;
  kills: number;
  /** How often the program ended without being killed, and came back. */
  endedByItself: number;
  /** The time that the books took to settle after the last delivery. */
  settledMs: number;
  /** True if the run was interrupted, so that missing orders were not looked for. */
  interrupted: boolean;
  findings: {
    code: CrashFindingCode;
    count: number;
    warning: boolean;
    examples: readonly string[];
    cause: string;
    fix: string;
  }[];
}

const page = 'docs/fulfil-exactly-once.md';

/** The texts of each finding: what it says of orders, its likely cause, what to do. */
const explanations: Record<CrashFindingCode, readonly [what: string, cause: string, fix: string]> = {
  lost: [
    'got a 200, and were neither fulfilled nor held',
    'The program responds before the delivery is stored, or keeps it in memory.',
    `Store the delivery, then respond 200: ${page}.`,
  ],
  twice: [
    'were fulfilled more than once',
    'Nothing makes the order unique, or it is looked up and written in two steps.',
    `Put a unique key on the order id into the transaction that fulfils: ${page}.`,
  ],
  wrong_amount: [
    'were fulfilled with another amount',
    'A second delivery of the order overwrites the first, or the amount comes from elsewhere.',
    'Compare amount and currency with what is stored, and hold the delivery where they differ: docs/which-order.md.',
  ],
  forged: [
    'were fulfilled, and never paid',
    'The signature is not verified, or not before something is written.',
    'Verify the raw body before anything else: docs/webhooks.md.',
  ],
  forged_accepted: [
    'were forged, and got a 2xx',
    'The program answers with a success although the signature is wrong. Nothing of it was fulfilled.',
    'Respond 400 to what is not authentic: docs/webhooks.md.',
  ],
  wrong_order: [
    'were credited with the payment of another order',
    'Payments are matched by amount alone, and two open orders have one amount.',
    'Give each open order an amount of its own, and hold what fits several: docs/which-order.md.',
  ],
  conflict_dropped: [
    'got a 200 for another amount, of which there is no sign',
    'A delivery of a known order is taken for a duplicate whatever its amount.',
    'Keep it for a person: it may be a second payment. docs/fulfil-exactly-once.md',
  ],
};

/** Returns the findings with their explanations and at most three examples each. */
export function explain(findings: readonly CrashFinding[]): CrashReport['findings'] {
  return findings.map(({ code, isWarning, examples }) => {
    const [, cause, fix] = explanations[code];
    return { code, count: examples.length, warning: isWarning, examples: examples.slice(0, 3), cause, fix };
  });
}

/** Returns a finding in words: its title, and the lines below. */
export function findingInWords({ code, count, examples, cause, fix }: CrashReport['findings'][number]) {
  const [what] = explanations[code];
  const orders = count === 1 ? `1 order ${what.replaceAll('were', 'was')}` : `${count} orders ${what}`;
  const more = count > examples.length ? [`… and ${count - examples.length} more`] : [];
  return { title: `${code}: ${orders}`, lines: [...examples, ...more, cause, fix] };
}

/** Returns the last line of a report. */
export function summary(report: CrashReport): string {
  const { ok, seed, orders, delivered, unanswered, kills, settledMs, interrupted, findings } = report;
  const times = report.endedByItself === 1 ? 'once' : `${report.endedByItself} times`;
  const ends = report.endedByItself === 0 ? '' : ` The program ended by itself ${times}.`;
  const sent = `${delivered} of ${orders} orders got a 200, with ${kills} kills`;
  const rest =
    unanswered === 0
      ? ''
      : ` ${unanswered} never got one, and may not be sent again: no retries are documented.`;
  const again = `Run it again with --seed ${seed}.`;
  if (interrupted) return `Interrupted: ${sent}. What is missing from the books was not judged. ${again}`;
  const settled = `The books settled in ${(settledMs / 1000).toFixed(1)} s.`;
  const wrong = findings.filter(({ warning }) => !warning).length;
  const verdict = ok
    ? 'Nothing was found with this seed, which proves nothing for others.'
    : `${wrong} ${wrong === 1 ? 'finding' : 'findings'}.`;
  return `${verdict} ${sent}.${rest}${ends} ${settled} ${again}`;
}
