import type { Diagnosis, ProbeResult } from '../doctor/diagnosis.js';
import type { Finding } from '../doctor/findings.js';
import { literal } from './literal.js';
import { paint } from './terminal.js';

/** The part of a diagnosis that is shown. */
export interface DoctorReport extends Pick<Diagnosis, 'ok' | 'target' | 'summary' | 'notes' | 'tried'> {
  findings: Told[];
  warnings: Told[];
  probes: Answered[];
  expects?: object | undefined;
}
type Told = Omit<Finding, 'code'> & { code: string };
type Answered = Omit<ProbeResult, 'name' | 'status' | 'error' | 'response'> & { status?: number | undefined };

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
  const lines = [ok ? paint('green', `✓ ${summary}`) : paint('red', `✗ ${summary}`), ...details(first)];
  for (const finding of others)
    lines.push('', paint('red', `✗ ${finding.problem} ${finding.fix}`), ...details(finding));
  for (const finding of warnings)
    lines.push('', paint('yellow', `! ${finding.problem} ${finding.fix}`), ...details(finding));
  if (expects && Object.keys(expects).length > 0) lines.push('', `  It would accept: ${literal(expects)}`);
  lines.push('', `Sent to ${target}:`, '', ...table(probes));
  if (tried > 0) lines.push('', `Then ${tried} other ways to sign, to find out what it would accept.`);
  for (const note of notes) lines.push('', note);
  return lines.join('\n');
}

/** What showed a finding, its code, and where the docs explain it. */
function details(finding: Told | undefined): string[] {
  if (!finding) return [];
  const { code, evidence, docs } = finding;
  return [...(evidence === undefined ? [] : [`  ${evidence}`]), paint('dim', `  ${code}: see ${docs}`)];
}

function table(probes: readonly Answered[]): string[] {
  const width = Math.max(...probes.map(({ says }) => says.length));
  return probes.map(({ says, expected, outcome, status, durationMs }) => {
    const response = outcome === 'no response' ? 'no response' : `${outcome} (${status})`;
    const row = `  ${says.padEnd(width)}  ${response.padEnd(14)}  ${String(Math.round(durationMs)).padStart(6)} ms`;
    return outcome === expected || outcome === 'no response'
      ? row
      : paint('red', `${row}  ← must be ${expected}`);
  });
}
