/** Every action that a workflow may use: its commit, and the version that this commit is. Compare both with the action's releases. */
export const pins: Readonly<Record<string, string>> = {
  'actions/attest': '1e69f48acb82d1966a394da916b4c1698aa569d6 # v4.2.2',
  'actions/checkout': '3d3c42e5aac5ba805825da76410c181273ba90b1 # v7.0.1',
  'actions/dependency-review-action': 'a1d282b36b6f3519aa1f3fc636f609c47dddb294 # v5.0.0',
  'actions/deploy-pages': 'cd2ce8fcbc39b97be8ca5fce6e763baed58fa128 # v5.0.0',
  'actions/download-artifact': '3e5f45b2cfb9172054b4087a40e8e0b5a5461e7c # v8.0.1',
  'actions/setup-node': '820762786026740c76f36085b0efc47a31fe5020 # v7.0.0',
  'actions/upload-artifact': '043fb46d1a93c77aae656e7c1c64a875d1fc6a0a # v7.0.1',
  'actions/upload-pages-artifact': 'fc324d3547104276b827a68afc52ff2a11cc49c9 # v5.0.0',
  'github/codeql-action/analyze': 'f205ea1c3313d32999d8d6a48b4f6530d4437b38 # v4.37.4',
  'github/codeql-action/init': 'f205ea1c3313d32999d8d6a48b4f6530d4437b38 # v4.37.4',
  'github/codeql-action/upload-sarif': 'f205ea1c3313d32999d8d6a48b4f6530d4437b38 # v4.37.4',
  'ossf/scorecard-action': '2d1146689b8cda280b9bc96326124645441f03bc # v2.4.4',
};

const use = (action: string, more: object = {}) => ({
  uses: `${action}@${pins[action]?.split(' ')[0]}`,
  ...more,
});
const checkout = use('actions/checkout', { with: { 'persist-credentials': false } });
const setUp = (version: string | number) =>
  use('actions/setup-node', { with: { 'node-version': version, 'package-manager-cache': false } });
const node = setUp(24);
const download = (name: string) => use('actions/download-artifact', { with: { name, path: name } });
const tarball = '"./release/merchant-payments-${GITHUB_REF_NAME#v}.tgz"';
const sameFiles = {
  name: 'The files are those that were built',
  run: `printf '%s  %s\\n' "$TARBALL" "merchant-payments-\${GITHUB_REF_NAME#v}.tgz" "$SBOM" sbom.cdx.json | diff - SHA256SUMS
sha256sum --check --strict SHA256SUMS
`,
  'working-directory': 'release',
  env: { TARBALL: '${{ needs.build.outputs.tarball }}', SBOM: '${{ needs.build.outputs.sbom }}' },
};
const on = (minutes: number, runner = 'ubuntu-24.04') => ({ 'runs-on': runner, 'timeout-minutes': minutes });
const read = { permissions: { contents: 'read' } };

/** Runs that wait for each other; in other workflows none do. */
export const queues: Readonly<Record<string, unknown>> = {
  'docs.yml': { group: 'pages', 'cancel-in-progress': false },
  'release.yml': { group: 'release', 'cancel-in-progress': false },
  'test.yml': {
    group: '${{ github.workflow }}-${{ github.ref }}',
    'cancel-in-progress': "${{ github.event_name == 'pull_request' }}",
  },
};

/** The triggers of each workflow. */
export const triggers: Readonly<Record<string, unknown>> = {
  'advisories.yml': { schedule: [{ cron: '11 6 * * 4' }], workflow_dispatch: null },
  'codeql.yml': { push: { branches: ['main'] }, pull_request: null, schedule: [{ cron: '23 4 * * 3' }] },
  'dependency-review.yml': 'pull_request',
  'docs.yml': { push: { branches: ['main'] }, workflow_dispatch: null },
  'fuzz.yml': { schedule: [{ cron: '41 2 * * *' }], workflow_dispatch: null },
  'release.yml': { push: { tags: ['v*'] } },
  'scorecard.yml': {
    branch_protection_rule: null,
    push: { branches: ['main'] },
    schedule: [{ cron: '5 6 * * 2' }],
  },
  'test.yml': { push: { branches: ['main'] }, pull_request: null, schedule: [{ cron: '17 5 * * 1' }] },
};

/** Each job: whole, to the last step. */
export const jobs: Readonly<Record<string, unknown>> = {
  'release.yml: build': {
    ...on(10),
    ...read,
    outputs: { tarball: '${{ steps.pack.outputs.tarball }}', sbom: '${{ steps.pack.outputs.sbom }}' },
    steps: [
      checkout,
      node,
      {
        name: 'The tag is the version',
        run: `test "$GITHUB_REF_NAME" = "v$(node -p 'require("./package.json").version')"`,
      },
      { name: 'The changelog has its date', run: 'node scripts/release-version.mjs --check' },
      {
        name: 'package.json names the repository, CODEOWNERS its owner',
        run: 'node scripts/set-repository.mjs --check',
      },
      { run: 'npm ci' },
      { id: 'pack', run: 'node scripts/pack-release.mjs release' },
      use('actions/upload-artifact', {
        with: { name: 'release', path: 'release/', 'if-no-files-found': 'error' },
      }),
    ],
  },
  'release.yml: test': {
    needs: 'build',
    ...on(60),
    ...read,
    steps: [
      checkout,
      node,
      download('release'),
      sameFiles,
      {
        run: '.ci/run "release/merchant-payments-${GITHUB_REF_NAME#v}.tgz"',
        env: { CHROMIUM_PATH: '/usr/bin/google-chrome' },
      },
    ],
  },
  'release.yml: rebuild': {
    needs: 'build',
    ...on(10),
    ...read,
    steps: [
      checkout,
      node,
      download('release'),
      sameFiles,
      { run: 'npm ci' },
      { run: `npm run same-tarball -- ${tarball}` },
    ],
  },
  'release.yml: stage': {
    needs: ['build', 'test', 'rebuild', 'mutation'],
    ...on(10),
    environment: 'npm',
    permissions: { 'id-token': 'write' },
    steps: [
      use('actions/setup-node', { with: { 'node-version': '^24.19', 'package-manager-cache': false } }),
      download('release'),
      sameFiles,
      {
        name: 'npm knows `npm stage`',
        run: `npm --version\nprintf '11.15.0\\n%s\\n' "$(npm --version)" | sort --check --version-sort\n`,
      },
      {
        name: 'Stage it; a maintainer approves it with a second factor',
        run: `npm stage publish ${tarball} --access public --ignore-scripts`,
      },
    ],
  },
  'release.yml: attest': {
    needs: ['build', 'stage'],
    ...on(10),
    permissions: { 'id-token': 'write', attestations: 'write' },
    steps: [
      download('release'),
      sameFiles,
      { id: 'attest', ...use('actions/attest', { with: { 'subject-checksums': 'release/SHA256SUMS' } }) },
      use('actions/upload-artifact', {
        with: {
          name: 'attestation',
          path: '${{ steps.attest.outputs.bundle-path }}',
          'if-no-files-found': 'error',
        },
      }),
    ],
  },
  'release.yml: draft': {
    needs: ['build', 'attest'],
    ...on(10),
    permissions: { contents: 'write' },
    steps: [
      download('release'),
      sameFiles,
      download('attestation'),
      {
        run: 'gh release create "$GITHUB_REF_NAME" --repo "$GITHUB_REPOSITORY" --verify-tag --draft --title "$GITHUB_REF_NAME" --notes "CHANGELOG.md says what changed." "release/merchant-payments-${GITHUB_REF_NAME#v}.tgz" release/SHA256SUMS release/sbom.cdx.json attestation/attestation.json',
        env: { GH_TOKEN: '${{ github.token }}' },
      },
    ],
  },
  'release.yml: mutation': {
    ...on(120),
    ...read,
    steps: [
      checkout,
      node,
      { run: 'npm ci' },
      { run: 'node scripts/mutation.mjs' },
      use('actions/upload-artifact', { if: 'always()', with: { name: 'mutation', path: 'reports/' } }),
    ],
  },
  'docs.yml: build': {
    ...on(10),
    ...read,
    steps: [
      checkout,
      node,
      { run: 'npm ci' },
      { run: 'npm run docs' },
      { run: 'npm run check:docs', env: { CHROMIUM_PATH: '/usr/bin/google-chrome' } },
      use('actions/upload-pages-artifact', { with: { path: 'docs/api' } }),
    ],
  },
  'fuzz.yml: fuzz': {
    ...on(60),
    ...read,
    steps: [checkout, node, { run: 'npm ci' }, { run: 'node scripts/fuzz.mjs' }],
  },
  'dependency-review.yml: review': {
    ...on(10),
    ...read,
    steps: [
      checkout,
      use('actions/dependency-review-action', {
        with: { 'fail-on-severity': 'moderate', 'fail-on-scopes': 'runtime, development' },
      }),
    ],
  },
  'test.yml: node': {
    name: 'Node ${{ matrix.node }} on ${{ matrix.os }}',
    strategy: {
      'fail-fast': false,
      matrix: {
        os: ['ubuntu-24.04'],
        node: ['20.19.0', '22.13.0', 20, 22, 24, 26],
        include: [
          { os: 'macos-15', node: 20 },
          { os: 'macos-15', node: 26 },
          { os: 'windows-2025', node: 20 },
          { os: 'windows-2025', node: 26 },
        ],
      },
    },
    ...on(20, '${{ matrix.os }}'),
    ...read,
    steps: [
      checkout,
      setUp('${{ matrix.node }}'),
      { run: 'npm ci' },
      { run: 'npm test' },
      { run: 'npm run quickstart' },
      { run: 'npm run test:dist' },
    ],
  },
  'test.yml: newest-npm': {
    ...on(20),
    ...read,
    steps: [
      checkout,
      setUp(26),
      { run: 'npm install --global npm@latest' },
      { run: 'npm ci' },
      { run: 'npm test' },
      { run: 'npm run build' },
      { run: 'npm run check' },
      { run: 'npm run same-tarball' },
    ],
  },
  'test.yml: signatures': {
    strategy: { matrix: { folder: ['.', 'compat', 'bench'] } },
    defaults: { run: { 'working-directory': '${{ matrix.folder }}' } },
    ...on(20),
    ...read,
    steps: [checkout, node, { run: 'npm ci' }, { run: 'npm audit signatures' }],
  },
  'test.yml: everything': {
    ...on(70),
    ...read,
    steps: [checkout, node, { run: '.ci/run', env: { CHROMIUM_PATH: '/usr/bin/google-chrome' } }],
  },
  'advisories.yml: scan': {
    ...on(15),
    permissions: { contents: 'read', issues: 'write' },
    steps: [
      checkout,
      node,
      {
        name: "The scanner, checked against Go's checksum database",
        run: `GOBIN="$RUNNER_TEMP/bin" go install github.com/google/osv-scanner/v2/cmd/osv-scanner@v2.5.0
echo "$RUNNER_TEMP/bin" >> "$GITHUB_PATH"
`,
      },
      { run: 'npm pack --silent --ignore-scripts merchant-payments@latest' },
      { run: 'tar -xzf merchant-payments-*.tgz package/dist/sbom.cdx.json' },
      { run: 'node scripts/advisories.mjs package/dist/sbom.cdx.json > report.md' },
      {
        name: 'Open an issue, unless one is open',
        if: 'failure()',
        run: `cat report.md
open=$(gh issue list --state open --search "in:title \\"$TITLE\\"" --json number --jq length)
test "$open" -gt 0 || gh issue create --title "$TITLE" --body-file report.md
`,
        env: { GH_TOKEN: '${{ github.token }}', TITLE: 'Scan of inlined packages' },
      },
    ],
  },
  'docs.yml: publish': {
    needs: 'build',
    ...on(10),
    environment: { name: 'github-pages', url: '${{ steps.publish.outputs.page_url }}' },
    permissions: { pages: 'write', 'id-token': 'write' },
    steps: [{ id: 'publish', ...use('actions/deploy-pages') }],
  },
  'scorecard.yml: scorecard': {
    ...on(15),
    permissions: { contents: 'read', 'security-events': 'write', 'id-token': 'write' },
    steps: [
      checkout,
      use('ossf/scorecard-action', {
        with: { results_file: 'scorecard.sarif', results_format: 'sarif', publish_results: true },
      }),
      use('actions/upload-artifact', { with: { name: 'scorecard', path: 'scorecard.sarif' } }),
      use('github/codeql-action/upload-sarif', { with: { sarif_file: 'scorecard.sarif' } }),
    ],
  },
  'codeql.yml: analyze': {
    ...on(30),
    permissions: { contents: 'read', 'security-events': 'write' },
    strategy: { 'fail-fast': false, matrix: { language: ['javascript-typescript', 'actions'] } },
    steps: [
      checkout,
      use('github/codeql-action/init', {
        with: {
          languages: '${{ matrix.language }}',
          'build-mode': 'none',
          queries: 'security-extended',
        },
      }),
      use('github/codeql-action/analyze'),
    ],
  },
};
