// `node scripts/mutation.mjs` changes the code of each part in hundreds of places, one at a time, and fails where the tests notice
// too few of them; `node scripts/mutation.mjs transport` does one part. Reports: reports/mutation-<part>.json.
import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { parts } from './mutation-parts.mjs';

const asked = process.argv.slice(2);
const unknown = asked.filter((name) => !Object.hasOwn(parts, name));
if (unknown.length > 0) throw new Error(`No part ${unknown}. There are ${Object.keys(parts).join(', ')}.`);

for (const name of asked.length > 0 ? asked : Object.keys(parts)) {
  if (name === 'inbox' && !process.getBuiltinModule?.('node:sqlite')) {
    throw new Error('The inbox needs node:sqlite: run this with Node 22.13 or later.');
  }
  const { status } = spawnSync(
    process.execPath,
    ['node_modules/@stryker-mutator/core/bin/stryker.js', 'run', 'scripts/stryker.config.mjs'],
    {
      stdio: 'inherit',
      env: { ...process.env, MUTATION_PART: name },
    },
  );
  if (status !== 0) throw new Error(`Stryker ended with code ${status}.`);
  judge(name);
}

function judge(name) {
  const { files } = JSON.parse(readFileSync(`reports/mutation-${name}.json`, 'utf8'));
  for (const [prefix, least] of Object.entries(parts[name].least)) {
    const mutants = Object.entries(files)
      .filter(([path]) => path.startsWith(prefix))
      .flatMap(([, file]) => file.mutants);
    const count = (...statuses) => mutants.filter(({ status }) => statuses.includes(status)).length;
    const killed = count('Killed', 'Timeout');
    const all = killed + count('Survived', 'NoCoverage');
    const score = (100 * killed) / all;
    const isEnough = score >= least;
    console.log(
      `${isEnough ? 'ok' : 'TOO FEW'}: ${prefix} ${score.toFixed(1)} % of ${all} mutants, at least ${least} %`,
    );
    if (!isEnough) process.exitCode = 1;
  }
}
