import { createSandbox } from 'merchant-payments/sandbox';
import { afterAll, describe, expect, test } from 'vitest';
import { forgeable } from './forgeable.js';
import { type Row, secret, serve } from './kit.js';
import { misconfigured } from './misconfigured.js';
import { right } from './right.js';

const tally = { right: 0, wrong: 0, missing: 0 };
const lines: string[] = [];

const alternatives = (codes: string) => (codes === '' ? [] : codes.split(' ').map((code) => code.split('|')));

/** Compares what was found with what a person would report. */
function judge(expected: string, found: readonly string[]) {
  const open = alternatives(expected);
  const wrong: string[] = [];
  for (const code of found) {
    const at = open.findIndex((codes) => codes.includes(code));
    if (at === -1) wrong.push(code);
    else open.splice(at, 1);
  }
  return { wrong, missing: open.map((codes) => codes.join('|')), right: found.length - wrong.length };
}

/** Longer than a busy machine stands still. Nobody waits for it: a row whose receiver never responds has its own. */
const longPatienceMs = 30_000;

async function examine(row: Row) {
  const {
    verdict,
    warnings = '',
    says,
    make,
    url,
    patienceMs = longPatienceMs,
    scheme,
    expects,
    amount,
  } = row;
  const { port, close } = await serve(make());
  try {
    const sandbox = createSandbox({
      webhookSecret: secret,
      unspecified: { deliveryTimeout: `${patienceMs}ms`, ...(scheme && { signature: scheme }) },
    });
    const target = url?.(port) ?? `http://127.0.0.1:${port}/webhooks`;
    const diagnosis = await sandbox.doctor(target, { amount });
    const all = judge(
      verdict,
      diagnosis.findings.map(({ code }) => code),
    );
    const extra = judge(
      warnings,
      diagnosis.warnings.map(({ code }) => code),
    );
    const report = [diagnosis.summary, ...diagnosis.findings.map(({ evidence }) => evidence)].join('\n');
    return {
      diagnosis,
      right: all.right + extra.right + (verdict === '' && all.wrong.length === 0 ? 1 : 0),
      wrong: [...all.wrong, ...extra.wrong],
      missing: [...all.missing, ...extra.missing],
      unproved: [...diagnosis.findings, ...diagnosis.warnings].filter(({ evidence }) => !evidence),
      unsaid: says !== undefined && !says.test(report) ? String(says) : undefined,
      expects: diagnosis.expects,
      expected: expects ?? diagnosis.expects,
    };
  } finally {
    await close();
  }
}

describe.each([
  ['right', right],
  ['forgeable', forgeable],
  ['misconfigured', misconfigured],
])('%s receivers', (_kind, rows) => {
  test.concurrent.each(rows.map((row) => [row.name, row] as const))('%s', async (name, row) => {
    const outcome = await examine(row);
    tally.right += outcome.right;
    tally.wrong += outcome.wrong.length;
    tally.missing += outcome.missing.length;
    const { wrong, missing, unsaid, unproved } = outcome;
    if (wrong.length + missing.length > 0 || unsaid)
      lines.push(
        `${name}: said [${outcome.diagnosis.findings.map(({ code }) => code)}] warn [${outcome.diagnosis.warnings.map(({ code }) => code)}], true [${row.verdict}] ${unsaid ?? ''}`,
      );
    expect(outcome.expects).toEqual(outcome.expected);
    expect({ wrong, missing, unsaid, unproved }).toEqual({
      wrong: [],
      missing: [],
      unsaid: undefined,
      unproved: [],
    });
  });
});

afterAll(() => {
  console.log(
    `${lines.join('\n')}\nFindings: ${tally.right} right, ${tally.wrong} wrong, ${tally.missing} missing, over ${right.length + forgeable.length + misconfigured.length} receivers.`,
  );
});
