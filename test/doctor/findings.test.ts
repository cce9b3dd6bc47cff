import { readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import { findingOf, findings } from '../../src/doctor/findings.js';

const codes = Object.keys(findings).filter((code): code is keyof typeof findings => code in findings);

describe('every finding', () => {
  test('has its anchor in the page on troubleshooting', () => {
    const page = readFileSync('docs/webhook-troubleshooting.md', 'utf8');
    expect(codes.filter((code) => !page.includes(`<a id="${code}"></a>`))).toEqual([]);
  });

  test.each(codes)('%s fits a sentence each, with every blank filled in or named by its probe', (code) => {
    const facts = [
      'location',
      'to',
      'host',
      'path',
      'tls',
      'alteration',
      'remedy',
      'or',
      'name',
      'own',
      'unit',
      'skew',
      'fails',
      'slow',
      'words',
      'forged',
      'when',
      'verdict',
    ];
    const { problem, fix } = findingOf(code, undefined, Object.fromEntries(facts.map((fact) => [fact, 'X'])));
    expect(`${problem} ${fix}`).not.toMatch(/\{\w+\}|undefined| {2}|\.\./);
    expect(problem).toMatch(/^[A-Z/].*\.$/);
  });
});
