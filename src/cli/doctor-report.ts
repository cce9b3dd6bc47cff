import type { Diagnosis, Finding, ProbeResult } from '../doctor/diagnosis.js';
import { literal } from './literal.js';
import { paint } from './terminal.js';

/** What of a diagnosis is shown. */
export interface Report extends Pick<Diagnosis, 'ok' | 'target' | 'summary' | 'notes' | 'tried'> {
  findings: Told[];
  warnings: Told[];
  probes: Answered[];
  expects?: object | undefined;
}
type Told = Pick<Finding, 'problem' | 'fix' | 'evidence'>;
type Answered = Omit<ProbeResult, 'name' | 'status' | 'error'> & { status?: number | undefined };

/** The report for people: the fault and its fix first, then what showed it, then every delivery. */
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
}: Report): string {
  const [first, ...others] = findings;
  const lines = [ok ? paint('green', `✓ ${summary}`) : paint('red', `✗ ${summary}`)];
  if (first?.evidence !== undefined) lines.push(`  ${first.evidence}`);
  for (const { problem, fix, evidence } of others)
    lines.push('', paint('red', `✗ ${problem} ${fix}`), ...indented(evidence));
  for (const { problem, fix, evidence } of warnings)
    lines.push('', paint('yellow', `! ${problem} ${fix}`), ...indented(evidence));
  if (expects && Object.keys(expects).length > 0) lines.push('', `  It would accept: ${literal(expects)}`);
  lines.push('', `Sent to ${target}:`, '', ...table(probes));
  if (tried > 0) lines.push('', `Then ${tried} other ways to sign, to find out what it would accept.`);
  for (const note of notes) lines.push('', note);
  return lines.join('\n');
}

const indented = (evidence: string | undefined) => (evidence === undefined ? [] : [`  ${evidence}`]);

function table(probes: readonly Answered[]): string[] {
  const width = Math.max(...probes.map(({ says }) => says.length));
  return probes.map(({ says, expected, outcome, status, durationMs }) => {
    const answer = outcome === 'no answer' ? 'no answer' : `${outcome} (${status})`;
    const row = `  ${says.padEnd(width)}  ${answer.padEnd(14)}  ${String(Math.round(durationMs)).padStart(6)} ms`;
    return outcome === expected || outcome === 'no answer'
      ? row
      : paint('red', `${row}  ← must be ${expected}`);
  });
}
