import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';

const size = 100_000;

/** Every regular expression that the package holds, as it is written. */
function patterns(): [where: string, pattern: RegExp][] {
  const files = readdirSync('src', { recursive: true, encoding: 'utf8' }).filter((name) =>
    name.endsWith('.ts'),
  );
  return files.flatMap((name) => {
    const found: [string, RegExp][] = [];
    const visit = (node: ts.Node) => {
      if (ts.isRegularExpressionLiteral(node)) {
        const [, source = '', flags = ''] = /^\/(.*)\/([a-z]*)$/s.exec(node.text) ?? [];
        found.push([`${name} ${node.text}`, new RegExp(source, flags)]);
      }
      ts.forEachChild(node, visit);
    };
    const path = join('src', name);
    ts.forEachChild(ts.createSourceFile(path, readFileSync(path, 'utf8'), ts.ScriptTarget.Latest), visit);
    return found;
  });
}

/** Texts on which a pattern that can go wrong does: long runs of what it takes, and an end that it does not. */
function attacks(pattern: RegExp): string[] {
  const literals = pattern.source.replace(/\\[wdsSWDbBp]|[[\](){}|?*+^$\\]/g, '');
  const units = new Set([...literals, ...'a0 .,;:-_/%=@"\n\t\u00e9', ...(literals.match(/.{2}/g) ?? [])]);
  const starts = ['', literals.slice(0, 8), 'service_live_'];
  return [...units].flatMap((unit) =>
    starts.map((start) => `${start}${unit.repeat(Math.ceil(size / unit.length))}\u0000!`),
  );
}

test('S10: no regular expression of the package takes long on any text of 100 kB', () => {
  const found = patterns();
  expect(found.length).toBeGreaterThan(20);
  const slow = found.filter(([, pattern]) => attacks(pattern).some((text) => fastest(pattern, text) > 20));
  expect(slow.map(([where]) => where)).toEqual([]);
}, 60_000);

test('S10: the same test finds one that does', () => {
  expect(fastest(/a+$/, `${'a'.repeat(12_000)}!`)).toBeGreaterThan(20);
});

/** Milliseconds of the fastest of three runs: another process may take the others. */
function fastest(pattern: RegExp, text: string): number {
  let least = Infinity;
  for (let run = 0; run < 3 && least > 20; run++) {
    pattern.lastIndex = 0;
    const began = performance.now();
    pattern.test(text);
    least = Math.min(least, performance.now() - began);
  }
  return least;
}
