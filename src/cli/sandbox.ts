import { once } from 'node:events';
import type { SandboxContext } from '../sandbox/context.js';
import { span } from '../sandbox/service/clock.js';
import { version } from '../version.js';
import { watch } from './activity.js';
import { command, type FlagTable } from './command.js';
import { servingFlags, startServing, usualPort } from './serving.js';
import { paint, print } from './terminal.js';

const flags = {
  ...servingFlags,
  quiet: ['', 'no line per request and delivery'],
  json: ['', 'one JSON object per line, for programs'],
} satisfies FlagTable;

export const sandbox = command({
  summary: 'serves the sandbox on this machine',
  usage: 'sandbox [flags]',
  example: 'sandbox --webhook-url http://localhost:3000/webhooks',
  flags,
  async run(given) {
    const { context, end } = await startServing(given, usualPort);
    const ended = endSignal();
    const json = given.has('json');
    if (json) {
      const { url, apiKey, webhookSecret, dashboardUrl } = context.sandbox;
      print(JSON.stringify({ type: 'ready', url, apiKey, webhookSecret, dashboardUrl }));
    } else {
      print(banner(context, given.text('host')));
      // Apart from the rest, so that a reader such as `head` that has left by now ends the sandbox.
      setTimeout(() => print(`  ${paint('dim', 'Ctrl+C ends it.')}\n`), 100).unref();
    }
    if (!given.has('quiet')) watch(context, json, print);
    await ended;
    await end();
    return 0;
  },
});

function banner({ sandbox, settings, guard }: SandboxContext, host?: string): string {
  const { url, apiKey, webhookSecret, dashboardUrl } = sandbox;
  const { webhook, webhooks } = settings;
  const when =
    typeof webhooks === 'object'
      ? `, ${span(webhooks.delayMs)} after each payment`
      : { auto: '', manual: ', held back until you deliver them' }[webhooks];
  const kept = 'kept; pass --webhook-url to send them';
  const warning = `  Other machines can reach this sandbox on ${host}. The dashboard link above holds its access token.`;
  return `
  ${paint('bold', 'merchant-payments sandbox')} ${version}: no money moves

  Base URL   ${paint('cyan', url)}
  Dashboard  ${paint('cyan', dashboardUrl)}
  Webhooks   ${webhook === undefined ? kept : `to ${String(webhook)}${when}`}
${guard.accessToken === undefined ? '' : `\n${paint('yellow', warning)}\n`}
  ${paint('dim', '# .env')}
  PAYMENTS_BASE_URL=${url}
  PAYMENTS_API_KEY=${apiKey}
  PAYMENTS_WEBHOOK_SECRET=${webhookSecret}
`;
}

/** Resolves at the first signal, or when nobody reads the output. A second signal ends the process at once. */
const endSignal = (): Promise<unknown> =>
  Promise.race([
    ...['SIGINT', 'SIGTERM', 'SIGHUP'].map((name) => once(process, name)),
    once(process.stdout, 'error'),
  ]);
