import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import * as z from 'zod/mini';
import { choicesSchema } from '../../src/sandbox/service/choices.js';

const command = z.object({
  summary: z.string(),
  usage: z.string(),
  flags: z.record(z.string(), z.unknown()),
});
const kebab = (name: string) => name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`);
const files = readdirSync('src/cli').filter((file) => !['main.ts', 'bin.ts'].includes(file));
const modules = await Promise.all(
  files.map(async (file): Promise<[string, object]> => [file, await import(`../../src/cli/${file}`)]),
);
const exported = modules
  .flatMap(([file, module]) => Object.entries(module).map(([name, value]) => ({ file, name, value })))
  .flatMap(({ file, name, value }) => {
    const { success, data } = command.safeParse(value);
    // The flags of an action of `inbox` stand in the section of `inbox`.
    const own = file.startsWith('inbox-') ? 'inbox' : kebab(name);
    return success ? [{ name: own, flags: Object.keys(data.flags) }] : [];
  });
const commands = [...new Set(exported.map(({ name }) => name))].map((name) => ({
  name,
  flags: [...new Set(exported.filter((each) => each.name === name).flatMap(({ flags }) => flags))],
}));

const page = readFileSync('docs/commands.md', 'utf8');
const sections = page.split(/^## /m).slice(1);

test('every command is found', () => {
  expect(commands.map(({ name }) => name).sort()).toEqual(
    expect.arrayContaining(['advance', 'capture', 'doctor', 'exec', 'identify', 'inbox', 'reset', 'sandbox']),
  );
});

test.each(commands)('docs/commands.md has a section on $name', ({ name }) => {
  const headings = sections.map((section) => section.split('\n')[0]?.split(', '));
  expect(headings.filter((names) => names?.includes(name))).toHaveLength(1);
});

test.each(commands)('$name has every flag that its section of docs/commands.md names', ({ name, flags }) => {
  const own = sections.find((section) => section.split('\n')[0]?.split(', ').includes(name)) ?? '';
  const together = commands.filter((each) => own.split('\n')[0]?.split(', ').includes(each.name));
  const known = ['help', ...flags, ...together.flatMap((each) => each.flags)];
  expect(flagsIn(own).filter((flag) => !known.includes(flag))).toEqual([]);
});

const skills = readdirSync('skills').map((name) => `skills/${name}/SKILL.md`);
const pages = ['README.md', 'AGENTS.md', 'llms.txt', 'examples/README.md', ...docs(), ...skills];
const calls = pages.flatMap((file) =>
  [...readFileSync(file, 'utf8').matchAll(/npx merchant-payments ([\w-]+)([^\n`]*)/g)].map(
    ([call, name = '', rest = '']) => ({ call, file, name, flags: flagsIn(rest.split(' -- ')[0] ?? '') }),
  ),
);

test.each(calls)('$file: $call', ({ name, flags }) => {
  const own = commands.find((each) => each.name === name);
  expect(own, `a command ${name}`).toBeDefined();
  expect(flags.filter((flag) => !['help', ...(own?.flags ?? [])].includes(flag))).toEqual([]);
});

function flagsIn(text: string): string[] {
  return [...text.matchAll(/(?<![\w-])--([a-z][\w-]*)/g)].map(([, flag]) => flag ?? '');
}

function docs(): string[] {
  return readdirSync('docs')
    .filter((file) => file.endsWith('.md'))
    .map((file) => `docs/${file}`);
}

test('docs/spec-gaps.md names every choice that the sandbox made', () => {
  const named = [...readFileSync('docs/spec-gaps.md', 'utf8').matchAll(/^- `(\w+)`:/gm)].map(
    ([, name]) => name,
  );
  expect(Object.keys(choicesSchema.shape).filter((name) => !named.includes(name))).toEqual([]);
});
