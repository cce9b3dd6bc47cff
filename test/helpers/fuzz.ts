import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect } from 'vitest';

/** A failure that was found once: fast-check makes the same values of it again. */
export interface KeptFailure {
  seed: number;
  path: string;
}

const factor = Number(process.env.FUZZ_FACTOR ?? 1);
/** `npm test` tries the same values each time; `scripts/fuzz.mjs` brings a fresh seed. */
const seed = Number(process.env.FUZZ_SEED ?? 20_260_101);
const file = 'test/fuzz/kept.json';
const keptByTitle: Record<string, KeptFailure[]> = JSON.parse(readFileSync(file, 'utf8'));

/** Tries a property on the failures kept under the test's title, then on `runs` values, of which `scripts/fuzz.mjs` makes 100 times as many. */
export async function check<Values>(
  property: fc.IRawProperty<Values>,
  runs: number,
  kept: readonly KeptFailure[] = keptByTitle[title()] ?? [],
): Promise<void> {
  for (const { seed, path } of kept) await fc.assert(property, { seed, path, endOnFailure: true });
  report(await fc.check(property, { numRuns: runs * factor, seed }));
}

/** Throws the failure, with the line that keeps it. */
function report<Values>(details: fc.RunDetails<Values>): void {
  const { failed, seed, counterexamplePath } = details;
  if (!failed) return;
  const line = JSON.stringify({ [title()]: [{ seed, path: counterexamplePath }] });
  throw new Error(
    `${fc.defaultReportMessage(details)}\n\nTo keep this failure as a test, add to ${file}:\n${line}`,
    { cause: details.errorInstance },
  );
}

function title(): string {
  return expect.getState().currentTestName ?? '';
}
