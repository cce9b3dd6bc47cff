// The pages of the site, in their order. llms.txt names the same guides.
import { readdirSync } from 'node:fs';

export const pages = {
  Start: ['docs/getting-started.md', 'docs/accept-a-payment.md', 'docs/nextjs.md'],
  Webhooks: [
    'docs/webhooks.md',
    'docs/fulfil-exactly-once.md',
    'docs/which-order.md',
    'docs/when-the-webhook-never-comes.md',
    'docs/signature-schemes.md',
    'docs/webhook-troubleshooting.md',
    'docs/frameworks.md',
    'docs/places.md',
    'docs/crash-test.md',
  ],
  Client: ['docs/products.md', 'docs/errors.md', 'docs/configuration.md'],
  Sandbox: ['docs/testing.md', 'docs/sandbox.md', 'docs/commands.md'],
  Production: [
    'docs/going-live.md',
    'docs/service.md',
    'docs/spec-gaps.md',
    'docs/faq.md',
    'docs/security.md',
    'docs/observability.md',
  ],
  Project: ['CHANGELOG.md', 'CONTRIBUTING.md', 'SECURITY.md', 'examples/README.md', 'bench/README.md'],
};

/** The guides, as one reads them. */
export const guides = Object.entries(pages).flatMap(([group, files]) => (group === 'Project' ? [] : files));

/** The names that most people look for in each module, in this order; the modules too. */
export const firstNames = {
  'merchant-payments': [
    'PaymentsClient',
    'PaymentsClientOptions',
    'ProductsResource',
    'CheckoutsResource',
    'BalanceResource',
    'Page',
    'PaymentsError',
    'isPaymentsError',
  ],
  'merchant-payments/webhooks': [
    'handler',
    'nodeHandler',
    'verify',
    'sign',
    'recover',
    'HandlerOptions',
    'VerifyOptions',
  ],
  'merchant-payments/inbox': ['openInbox', 'InboxOptions', 'Inbox'],
  'merchant-payments/matching': ['matchPayments', 'freeAmount'],
  'merchant-payments/sandbox': ['createSandbox', 'SandboxOptions', 'Sandbox'],
};

/** Options whose fields stand on the page of the function that takes them. */
export const expanded = [
  'PaymentsClientOptions',
  'HandlerOptions',
  'OnOptions',
  'AcceptOptions',
  'VerifyOptions',
  'SignOptions',
  'InboxOptions',
  'SandboxOptions',
];

/** The example files that become pages. */
export const examples = () => files('examples', /(?<!\.d)\.(ts|tsx|mjs|cjs)$/);

function files(folder, name) {
  return readdirSync(folder, { recursive: true })
    .map((path) => path.replaceAll('\\', '/'))
    .filter((path) => name.test(path) && !path.includes('node_modules'))
    .map((path) => `${folder}/${path}`)
    .sort();
}
