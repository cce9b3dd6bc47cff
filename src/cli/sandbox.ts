import type { SandboxContext } from '../sandbox/context.js';
import { span } from '../sandbox/pages/dashboard/moments.js';
import { version } from '../version.js';
import { watch } from './activity.js';
import type { Command } from './command.js';
import { Flags } from './flags.js';
import { startServing } from './serving.js';
import { servingFlags, usualPort } from './serving-flags.js';
import { paint, print, printJson } from './terminal.js';

const flags = {
  ...servingFlags,
  quiet: { text: 'no line per request and delivery' },
  json: { text: 'one JSON object per line, for programs' },
};

export const sandbox: Command = {
  summary: 'serves the sandbox on this machine',
  usage: 'sandbox [flags]',
  example: 'sandbox --webhook-url http://localhost:3000/webhooks',
  flags,
  async run(args) {
    const given = new Flags(flags, args);
    const { context, end } = await startServing(given, { defaultPort: usualPort });
    const ended = endSignal();
    const json = given.has('json');
    if (json) printJson(ready(context));
    else {
      print(banner(context, given.text('host')));
      // Apart from the rest, so that a reader such as `head` that has left by now ends the sandbox.
      setTimeout(() => print(`  ${paint('dim', 'Ctrl+C ends it.')}\n`), 100).unref();
    }
    if (!given.has('quiet')) watch(context, json, print);
    await ended;
    await end();
    return 0;
  },
};

const ready = ({ sandbox: { url, apiKey, webhookSecret, dashboardUrl } }: SandboxContext) => ({
  type: 'ready',
  url,
  apiKey,
  webhookSecret,
  dashboardUrl,
});

function banner(
  { sandbox: { url, apiKey, webhookSecret, dashboardUrl }, settings, guard }: SandboxContext,
  host?: string,
): string {
  const { webhooks } = settings;
  const when =
    typeof webhooks === 'object'
      ? `, ${span(webhooks.delayMs)} after each payment`
      : { auto: '', manual: ', held back until you deliver them' }[webhooks];
  const webhook =
    settings.webhook === undefined
      ? 'kept; pass --webhook-url to send them'
      : `to ${String(settings.webhook)}${when}`;
  const rows = [
    ['Base URL', paint('cyan', url)],
    ['Dashboard', paint('cyan', dashboardUrl)],
    ['Webhooks', webhook],
  ];
  const warning =
    guard.accessToken === undefined
      ? ''
      : `\n${paint('yellow', `  Other machines can reach this sandbox on ${host}. The dashboard link above holds its access token.`)}\n`;
  return `
  ${paint('bold', 'merchant-payments sandbox')} ${version}: no money moves

${rows.map(([name = '', value]) => `  ${name.padEnd(11)}${value}`).join('\n')}
${warning}
  ${paint('dim', '# .env')}
  PAYMENTS_BASE_URL=${url}
  PAYMENTS_API_KEY=${apiKey}
  PAYMENTS_WEBHOOK_SECRET=${webhookSecret}
`;
}

/** Resolves at the first SIGINT or SIGTERM, or when nobody reads the output. A second signal ends the process at once. */
function endSignal(): Promise<void> {
  return new Promise((resolve) => {
    for (const name of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(name, () => resolve());
    process.stdout.once('error', () => resolve());
  });
}
