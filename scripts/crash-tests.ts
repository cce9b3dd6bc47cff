// The exam of the crash test: `npx tsx scripts/crash-tests.ts` runs each planted shop and the right one with 20 seeds, and prints how often each
// fault was found under its own name; `npx tsx scripts/crash-tests.ts 3 two_steps` takes three seeds of one shop.
import { planted, testShop } from '../test/crash-test/shops.js';

const [seeds = '20', only] = process.argv.slice(2);
const shops = [...Object.entries(planted), ['none', ''] as const].filter(
  ([fault]) => !only || fault === only,
);

for (const [fault, wanted] of shops) {
  let right = 0;
  let slowest = 0;
  const wrong: number[] = [];
  for (let seed = 1; seed <= Number(seeds); seed++) {
    const began = performance.now();
    const { stdout, stderr } = await testShop(fault, seed, 200);
    slowest = Math.max(slowest, performance.now() - began);
    const { ok, findings = [] } = JSON.parse(stdout || JSON.stringify({ error: stderr }));
    const codes: string[] = findings.map(({ code }: { code: string }) => code);
    if (wanted === '' ? ok && codes.length === 0 : codes.includes(wanted)) right++;
    else wrong.push(seed);
  }
  const missed = wrong.length > 0 ? `, not with ${wrong.join(', ')}` : '';
  console.log(
    `${fault.padEnd(20)} ${wanted || 'nothing'}: ${right}/${seeds}${missed}; slowest ${(slowest / 1000).toFixed(0)} s`,
  );
  if (right < Number(seeds) * (wanted === '' ? 1 : 0.95)) process.exitCode = 1;
}
