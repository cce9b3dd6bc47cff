import * as z from 'zod/mini';
import { literal } from './literal.js';
import { paint, verdict } from './terminal.js';

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
export function reportOf({
  ok,
  target,
  summary,
  findings,
  warnings,
  notes,
  probes,
  tried,
  expects,
}: DoctorReport): string {
  const [first, ...others] = findings;
  const lines = [verdict(ok, summary), ...details(first)];
  for (const finding of others)
    lines.push('', verdict(false, `${finding.problem} ${finding.fix}`), ...details(finding));
  for (const finding of warnings)
    lines.push('', paint('yellow', `! ${finding.problem} ${finding.fix}`), ...details(finding));
  if (expects && Object.keys(expects).length > 0) lines.push('', `  It would accept: ${literal(expects)}`);
  lines.push('', `Sent to ${target}:`, '', ...table(probes));
  if (tried > 0) lines.push('', `Then ${tried} other ways to sign, to find out what it would accept.`);
  for (const note of notes) lines.push('', note);
  return lines.join('\n');
}

/** What showed a finding, its code, and where the docs explain it. */
function details(finding: DoctorReport['findings'][number] | undefined): string[] {
  if (!finding) return [];
  const { code, evidence, docs } = finding;
  return [...(evidence === undefined ? [] : [`  ${evidence}`]), paint('dim', `  ${code}: see ${docs}`)];
}

function table(probes: DoctorReport['probes']): string[] {
  const width = Math.max(...probes.map(({ says }) => says.length));
  return probes.map(({ says, expected, outcome, status, durationMs }) => {
    const response = outcome === 'no response' ? 'no response' : `${outcome} (${status})`;
    const row = `  ${says.padEnd(width)}  ${response.padEnd(14)}  ${String(Math.round(durationMs)).padStart(6)} ms`;
    return outcome === expected || outcome === 'no response'
      ? row
      : paint('red', `${row}  ← must be ${expected}`);
  });
}
