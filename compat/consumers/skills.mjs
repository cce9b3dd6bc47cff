// The skills of the package, as the tools read them that look for skills in node_modules.
import assert from 'node:assert/strict';
import { cp, mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { check, run } from '../check.mjs';

const modules = fileURLToPath(new URL('../node_modules/', import.meta.url));
const newest = `${modules}node-24/bin/node`;

export async function checkSkills() {
  const cwd = await mkdtemp(join(tmpdir(), 'merchant-payments-skills-'));
  const installed = join(cwd, 'node_modules/merchant-payments');
  await cp(`${modules}merchant-payments`, installed, { recursive: true });
  // A release has its repository, by which TanStack Intent knows whose skills they are.
  const manifest = JSON.parse(await readFile(join(installed, 'package.json'), 'utf8'));
  const repository = { type: 'git', url: 'git+https://git.example/acme/payments.git' };
  await writeFile(join(installed, 'package.json'), JSON.stringify({ ...manifest, repository }));
  await writeFile(
    join(cwd, 'package.json'),
    JSON.stringify({ name: 'shop', dependencies: { 'merchant-payments': '*' } }),
  );
  const names = await readdir(join(installed, 'skills'));

  await check('TanStack Intent finds the skills', async () => {
    const list = await run(newest, [`${modules}.bin/intent`, 'list', '--json'], { cwd });
    assert.deepEqual(
      JSON.parse(list)
        .skills.map(({ skillName }) => skillName)
        .sort(),
      names.sort(),
    );
    await run(newest, [`${modules}.bin/intent`, 'validate'], { cwd: installed });
  });
  await check('npx skills finds the skills', async () => {
    await run(newest, [`${modules}.bin/skills`, 'experimental_sync', '-y', '--copy'], { cwd });
    assert.deepEqual((await readdir(join(cwd, '.agents/skills'))).sort(), names.sort());
  });
  await rm(cwd, { recursive: true });
}
