// `node conformance/results.mjs --write`, in compat/: runs the corpus against the published verifiers and writes RESULTS.md.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { deviations } from './deviations.mjs';
import { verifiers } from './public-verifiers.mjs';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const runner = path('../../conformance/run.mjs');
const page = path('../../conformance/RESULTS.md');

/** Returns the result of `run.mjs --json` for a command or an address. */
export function examine(...args) {
  return new Promise((resolve, reject) => {
    const child = execFile(process.execPath, [runner, '--json', ...args], (error, stdout, stderr) => {
      if (error && error.code !== 1) reject(new Error(stderr || error.message));
      else resolve(JSON.parse(stdout));
    });
    child.stdin?.end();
  });
}

/** The page as it should be, from a fresh run. */
export async function results() {
  const rows = [];
  const sections = [];
  for (const [name, { scheme }] of Object.entries(verifiers)) {
    const command = [process.execPath, path('public-verifiers.mjs'), name];
    const {
      passed,
      deviations: found,
      skipped,
    } = await examine('--scheme', scheme, '--stdio', '--', ...command);
    const { version } = JSON.parse(readFileSync(path(`../node_modules/${name}/package.json`), 'utf8'));
    const title = name === 'merchant-payments' ? name : `${name} ${version}`;
    rows.push(`| ${title} | ${scheme} | ${passed} | ${found.length} | ${skipped.length} |`);
    if (found.length === 0) continue;
    const points = found.map(({ id, title: what, problem }) => {
      const reason = deviations[name]?.[id] ?? 'NOT EXPLAINED';
      return `- \`${id}\`, ${what}: ${problem.replace(/ \(.*/s, '')}. ${reason}`;
    });
    sections.push(`## ${title}\n\n${points.join('\n')}\n`);
  }
  return `${head}${rows.join('\n')}\n\n${notes}\n${sections.join('\n')}`;
}

const head = `# Results

Written by \`cd compat && node conformance/results.mjs --write\`; \`npm run compat conformance\` fails when it is no longer true.

| verifier | scheme | as expected | deviations | not applicable |
|---|---|---:|---:|---:|
`;

const notes = `A case is not applicable where it is about an option, an encoding or an event that the service does not have; \`--json\` lists
the reason for each. Each package is called as its own documentation shows, with the body's bytes where it takes bytes, and
a refusal counts as such only with the error that the package declares. The corpus is stricter than most services ask for:
a deviation is a difference, not necessarily a weakness. None of those below lets somebody without the secret choose what an
accepted event says.
`;

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const text = await results();
  if (process.argv.includes('--write')) writeFileSync(page, text);
  else process.stdout.write(text);
}
