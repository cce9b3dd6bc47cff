#!/usr/bin/env node
// Tests a receiver of webhooks over HTTP, or a verifier over standard input and output. README.md tells how.
import { parseArgs } from 'node:util';
import { examineReceiver } from './http.mjs';
import { deviation } from './judge.mjs';
import { schemes } from './schemes.mjs';
import { examineVerifier } from './stdio.mjs';

const usage = `Usage: node conformance/run.mjs [--scheme <name>] [--json] <url>
       node conformance/run.mjs [--scheme <name>] [--json] --stdio -- <command> [argument…]

Schemes: ${Object.keys(schemes).join(', ')}. The secret of the receiver is read from WEBHOOK_SECRET; default ${defaultSecret()}.
Exit code: 0 without a deviation, 1 with one, 2 when nothing could be tested.`;

try {
  process.exitCode = await main();
} catch (error) {
  console.error(error.code?.startsWith('ERR_PARSE_ARGS') ? `${error.message}\n\n${usage}` : error.message);
  process.exitCode = 2;
}

async function main() {
  const { values, positionals } = parseArgs({
    allowPositionals: true,
    options: {
      stdio: { type: 'boolean' },
      json: { type: 'boolean' },
      help: { type: 'boolean' },
      scheme: { type: 'string', default: 'default' },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  const scheme = Object.hasOwn(schemes, values.scheme) ? schemes[values.scheme] : undefined;
  if (!scheme || positionals.length === 0 || (!values.stdio && positionals.length > 1)) {
    console.error(usage);
    return 2;
  }
  const options = { secret: process.env.WEBHOOK_SECRET || defaultSecret(), scheme };
  const results = values.stdio
    ? examineVerifier(positionals, options)
    : examineReceiver(positionals[0], options);
  return report(results, values.json);
}

async function report(results, asJson) {
  const deviations = [];
  const skipped = [];
  let passed = 0;
  for await (const { one, outcome, skipped: reason } of results) {
    const { id, title } = one;
    const problem = outcome && deviation(one, outcome);
    if (reason) skipped.push({ id, title, reason });
    else if (problem) deviations.push({ id, title, problem });
    else passed++;
  }
  if (asJson) console.log(JSON.stringify({ passed, deviations, skipped }, null, 2));
  else {
    for (const { id, title, problem } of deviations) console.log(`✗ ${id}: ${title}\n  ${problem}`);
    const count = `${deviations.length} deviation${deviations.length === 1 ? '' : 's'}`;
    const others = skipped.length > 0 ? '; --json says why' : '';
    console.log(`${passed} as expected, ${count}, ${skipped.length} that do not apply here${others}`);
  }
  return deviations.length > 0 ? 1 : 0;
}

function defaultSecret() {
  return 'whsec_merchant_test_7Qm2xV9c';
}
