import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import ts from 'typescript';
import { expect, test } from 'vitest';
import { filesIn } from '../helpers/files.js';

/** Short ones first, on which a pattern of exponential time is slow too, but ends. */
const sizes = [25, 200, 2_000, 20_000];
/** Looked at only where 20 kB take this long: within less, five times as much takes less than 50 ms even in cubic time. */
const [longest, longEnoughMs] = [100_000, 0.3];

/** Every regular expression that the package holds, as it is written. */
function patterns(): [where: string, pattern: RegExp][] {
  const files = filesIn('src').filter((name) => name.endsWith('.ts'));
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
function attacks(pattern: RegExp): ((size: number) => string)[] {
  const literals = pattern.source.replace(/\\[wdsSWDbBp]|[[\](){}|?*+^$\\]/g, '');
  const units = new Set([...literals, ...'a0 .,;:-_/%=@"\n\t\u00e9', ...(literals.match(/.{2}/g) ?? [])]);
  const starts = ['', literals.slice(0, 8), 'service_live_'];
  return [...units].flatMap((unit) =>
    starts.map((start) => (size) => `${start}${unit.repeat(Math.ceil(size / unit.length))}\u0000!`),
  );
}

test('no regular expression of the package takes more than 50 ms of CPU for any string of 100 kB', () => {
  const found = patterns();
  expect(found.length).toBeGreaterThan(20);
  const slow = found.filter(([, pattern]) => attacks(pattern).some((attack) => isSlow(pattern, attack)));
  expect(slow.map(([where]) => where)).toEqual([]);
}, 120_000);

test.each([/a+$/, /(a+)+$/, /a*a*a*$/])(
  'the same measure finds one of more than linear time: %s',
  (pattern) => {
    expect(attacks(pattern).some((attack) => isSlow(pattern, attack))).toBe(true);
  },
);

function isSlow(pattern: RegExp, attack: (size: number) => string): boolean {
  let took = 0;
  for (const size of sizes) {
    const text = attack(size);
    const before = performance.now();
    pattern.lastIndex = 0;
    pattern.test(text);
    took = performance.now() - before;
    if (took > 50 && takesLong(pattern, text)) return true;
  }
  return took > longEnoughMs && takesLong(pattern, attack(longest));
}

/** By CPU, which other processes do not use up; and three times, since garbage is collected now and then. */
function takesLong(pattern: RegExp, text: string): boolean {
  return [1, 2, 3].every(() => {
    pattern.lastIndex = 0;
    const before = process.cpuUsage();
    pattern.test(text);
    const { user, system } = process.cpuUsage(before);
    return user + system > 50_000;
  });
}
