import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import * as z from 'zod/mini';

const frontMatter = z.strictObject({ name: z.string(), description: z.string().check(z.maxLength(1024)) });
const names = readdirSync('skills');
const { files, keywords } = z
  .object({ files: z.array(z.string()), keywords: z.array(z.string()) })
  .parse(JSON.parse(readFileSync('package.json', 'utf8')));

it('the package has the skills, and the keyword by which tools find them', () => {
  expect(names.length).toBeGreaterThan(0);
  expect(files).toContain('skills');
  expect(keywords).toContain('tanstack-intent');
});

describe.each(names)('the skill %s', (name) => {
  const [, head = '', text = ''] = readFileSync(`skills/${name}/SKILL.md`, 'utf8').split(/^---$/m);

  it('has its own name, and a description of at most 1024 characters', () => {
    expect(frontMatter.parse(parse(head)).name).toBe(name);
  });

  it('is read in two minutes', () => {
    expect(text.split(/\s+/).length).toBeLessThan(450);
  });

  it('names files and skills that the package has', () => {
    const named = [...text.matchAll(/`((?:docs\/|examples\/)?[\w-]+(?:\/[\w-]+)*\.(?:md|ts))`/g)].map(
      ([, path = '']) => path,
    );
    expect(named.filter((path) => !existsSync(path))).toEqual([]);
    const skills = [...text.matchAll(/the skill `([\w-]+)`/g)].map(([, skill = '']) => skill);
    expect(skills.filter((skill) => !names.includes(skill))).toEqual([]);
  });
});
