import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, test } from 'vitest';
import * as z from 'zod/mini';

/** Requests to coding agents, and what a right solution must and must not contain. */
const prompts = z
  .array(
    z.strictObject({
      prompt: z.string(),
      pages: z.array(z.string()).check(z.minLength(1)),
      mustContain: z.array(z.string()).check(z.minLength(1)),
      mustNotContain: z.array(z.string()).check(z.minLength(1)),
      because: z.string(),
    }),
  )
  .parse(JSON.parse(readFileSync('test/prompts/prompts.json', 'utf8')));

const rules = readFileSync('AGENTS.md', 'utf8');

describe.each(prompts)('$prompt', ({ pages, mustContain, mustNotContain }) => {
  const texts = pages.map((page) => (existsSync(page) ? readFileSync(page, 'utf8') : ''));

  test('its pages exist, and a reader of them and of AGENTS.md finds all that a right solution needs', () => {
    expect(pages.filter((page) => !existsSync(page))).toEqual([]);
    expect(mustContain.filter((part) => ![rules, ...texts].some((text) => text.includes(part)))).toEqual([]);
  });

  test('its pages show nothing that a right solution must not contain', () => {
    expect(mustNotContain.filter((part) => texts.some((text) => text.includes(part)))).toEqual([]);
  });
});

test('AGENTS.md names only pages that exist', () => {
  const named = [...rules.matchAll(/`(docs\/[\w-]+\.md)`/g)].flatMap(([, page]) => page ?? []);
  expect(named.length).toBeGreaterThan(10);
  expect(named.filter((page) => !existsSync(page))).toEqual([]);
});
