// The pages of the site, in their order. llms.txt and the links at the end of README.md name the same.
import { readdirSync } from 'node:fs';

export const pages = {
  Start: ['docs/getting-started.md', 'docs/accept-a-payment.md'],
  Webhooks: [
    'docs/webhooks.md',
    'docs/fulfil-exactly-once.md',
    'docs/which-order.md',
    'docs/when-the-webhook-never-comes.md',
    'docs/signature-schemes.md',
    'docs/webhook-troubleshooting.md',
  ],
  Client: ['docs/products.md', 'docs/errors.md', 'docs/configuration.md'],
  Sandbox: ['docs/testing.md', 'docs/sandbox.md', 'docs/commands.md'],
  Production: [
    'docs/going-live.md',
    'docs/spec-gaps.md',
    'docs/faq.md',
    'docs/security.md',
    'docs/threat-model.md',
    'docs/threat-model.md',
    'docs/observability.md',
    'docs/performance.md',
    'docs/versioning.md',
  ],
  Project: [
    'CHANGELOG.md',
    'CONTRIBUTING.md',
    'SECURITY.md',
    'examples/README.md',
    'bench/README.md',
    ...files('docs/decisions', /\.md$/),
  ],
};

/** The example files that become pages. */
export const examples = () => files('examples', /(?<!\.d)\.(ts|tsx|mjs|cjs)$/);

function files(folder, name) {
  return readdirSync(folder, { recursive: true })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => name.test(path) && !path.includes('node_modules'))
    .map((path) => `${folder}/${path}`)
    .sort();
}
