// The exam of the crash test: `npx tsx scripts/crash-tests.ts` runs each planted shop and the right ones with 20 seeds, and prints how often each
// fault was found under its own name; `npx tsx scripts/crash-tests.ts 3 two_steps` takes the seeds 1 to 3 of one shop, `11-20` those.
import { planted, right, testShop } from '../test/crash-test/shops.js';

const [seeds = '20', only] = process.argv.slice(2);
const [last = '20', first = '1'] = seeds.split('-').reverse();
const count = Number(last) - Number(first) + 1;
const shops = [...Object.entries(planted), ...right.map((name) => [name, ''] as const)].filter(
  ([fault]) => !only || fault === only,
);

for (const [fault, wanted] of shops) {
  let slowest = 0;
  const wrong: number[] = [];
  for (let seed = Number(first); seed <= Number(last); seed++) {
    const began = performance.now();
    const { stdout, stderr } = await testShop(fault, seed, 200);
    slowest = Math.max(slowest, performance.now() - began);
    const { ok, findings = [] } = JSON.parse(stdout || JSON.stringify({ error: stderr }));
    const codes: string[] = findings.map(({ code }: { code: string }) => code);
    if (wanted === '' ? !ok || codes.length > 0 : !codes.includes(wanted)) {
      wrong.push(seed);
      console.error(`${fault}, seed ${seed}: ${stdout || stderr}`);
    }
  }
  const found = count - wrong.length;
  const missed = wrong.length > 0 ? `, not with ${wrong.join(', ')}` : '';
  console.log(
    `${fault.padEnd(20)} ${wanted || 'nothing'}: ${found}/${count}${missed}; slowest ${(slowest / 1000).toFixed(0)} s`,
  );
  if (found < count * (wanted === '' ? 1 : 0.95)) process.exitCode = 1;
}
