import * as z from 'zod/mini';
import { literal, paint, paragraphs, verdict } from './terminal.js';

const finding = z.object({
  code: z.string(),
  docs: z.string(),
  problem: z.string(),
  fix: z.string(),
  evidence: z.optional(z.string()),
});

/** The part of a diagnosis that is shown, which a running sandbox of this version responds with. */
export const report = z.object({
  ok: z.boolean(),
  target: z.string(),
  summary: z.string(),
  findings: z.array(finding),
  warnings: z.array(finding),
  notes: z.array(z.string()),
  probes: z.array(
    z.object({
      says: z.string(),
      expected: z.enum(['accepted', 'refused']),
      outcome: z.enum(['accepted', 'refused', 'no response']),
      status: z.optional(z.number()),
      durationMs: z.number(),
    }),
  ),
  tried: z.number(),
  expects: z.optional(z.looseObject({})),
});

type DoctorReport = z.output<typeof report>;

/** The report for people: the fault and its fix first, then the evidence, then every delivery. */
export function reportOf(diagnosis: DoctorReport): string {
  const { ok, target, summary, findings, warnings, notes, probes, tried, expects = {} } = diagnosis;
  const [first, ...others] = findings;
  return paragraphs(
    [verdict(ok, summary), ...(first ? details(first) : [])].join('\n'),
    ...others.map((one) => [verdict(false, `${one.problem} ${one.fix}`), ...details(one)].join('\n')),
    ...warnings.map((one) => [paint('yellow', `! ${one.problem} ${one.fix}`), ...details(one)].join('\n')),
    Object.keys(expects).length > 0 && `  It would accept: ${literal(expects)}`,
    `Sent to ${target}:`,
    table(probes),
    tried > 0 && `Then ${tried} other ways to sign, to find out what it would accept.`,
    ...notes,
  );
}

/** What showed a finding, its code, and where the docs explain it. */
const details = ({ code, evidence, docs }: DoctorReport['findings'][number]): string[] => [
  ...(evidence === undefined ? [] : [`  ${evidence}`]),
  paint('dim', `  ${code}: see ${docs}`),
];

function table(probes: DoctorReport['probes']): string {
  const width = Math.max(...probes.map(({ says }) => says.length));
  const rows = probes.map(({ says, expected, outcome, status, durationMs }) => {
    const response = outcome === 'no response' ? outcome : `${outcome} (${status})`;
    const row = `  ${says.padEnd(width)}  ${response.padEnd(14)}  ${String(Math.round(durationMs)).padStart(6)} ms`;
    return [expected, 'no response'].includes(outcome) ? row : paint('red', `${row}  ← must be ${expected}`);
  });
  return rows.join('\n');
}
