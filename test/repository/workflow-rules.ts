import { isDeepStrictEqual } from 'node:util';
import { parse } from 'yaml';
import { jobs as listed, pins, queues, triggers } from './workflow-jobs.js';

type Fields = Record<string, unknown>;

/** Each deviation of workflows, by file name, from what they may do. */
export function problemsOf(files: Readonly<Record<string, string>>): string[] {
  const problems: string[] = [];
  const found = new Set<string>();
  for (const name of new Set([...Object.keys(triggers), ...Object.keys(files)])) {
    const text = files[name];
    if (text === undefined) problems.push(`${name} is gone`);
    else if (!(name in triggers)) problems.push(`${name} is not listed`);
    else problems.push(...workflow(name, text, found));
  }
  for (const job of Object.keys(listed)) if (!found.has(job)) problems.push(`${job} is gone`);
  return problems;
}

function workflow(name: string, text: string, found: Set<string>): string[] {
  const { name: _, on, permissions, concurrency, jobs, ...others } = fields(parse(text));
  const problems = Object.keys(others).map((field) => `${name}: ${field} is for all jobs`);
  if (!isDeepStrictEqual(concurrency, queues[name])) problems.push(`${name} waits for other runs`);
  if (!isDeepStrictEqual(on, triggers[name])) problems.push(`${name} is started by something else`);
  if (!isDeepStrictEqual(permissions, {})) problems.push(`${name} grants permissions to all jobs`);
  for (const [, what = ''] of text.matchAll(/\buses['"]?\s*:\s*(.*)/g)) {
    const action = what.split('@')[0] ?? '';
    if (what !== `${action}@${pins[action]}`) problems.push(`${name}: ${what} is not a listed pin`);
  }
  for (const [key, job] of Object.entries(fields(jobs))) {
    const title = `${name}: ${key}`;
    found.add(title);
    if (!isDeepStrictEqual(job, listed[title])) problems.push(`${title} is not what is listed`);
  }
  return problems;
}

function fields(value: unknown): Fields {
  if (typeof value !== 'object' || value === null) throw new TypeError(`${value} has no fields`);
  return Object.fromEntries(Object.entries(value));
}
