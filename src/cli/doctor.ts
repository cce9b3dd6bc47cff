import type { DoctorOptions } from '../doctor/diagnosis.js';
import { readOrderPrice } from '../doctor/doctor.js';
import { InvalidField } from '../sandbox/checks.js';
import { createSandbox } from '../sandbox/create.js';
import { command, type Flags, type FlagTable } from './command.js';
import { report, reportOf } from './doctor-report.js';
import { ask, readAs, runningFlags } from './running.js';
import { readSchemeFlag, schemeFlag } from './scheme-flag.js';
import { CommandError, refuseUnless, show, warn } from './terminal.js';
import { webhookSecret } from './webhook-secret.js';

const flags = {
  amount: ['<amount>', 'the amount of the test order; default 98765.43, which no shop charges'],
  currency: ['<code>', 'its currency; default USD'],
  scheme: schemeFlag,
  'allow-remote': ['', 'also examines a public address, which then receives signed fake payments'],
  ...runningFlags,
  json: ['', 'prints the diagnosis as JSON'],
} satisfies FlagTable;

const exampleUrl = 'http://localhost:3000/webhooks';

export const doctor = command({
  summary: 'explains why valid webhooks are rejected, and the line to change: doctor <url>',
  usage:
    'doctor [<url of your webhook>] [flags]\n\n' +
    'With a URL, the secret is read from PAYMENTS_WEBHOOK_SECRET, or you are prompted for it. Without one, a running sandbox examines\n' +
    'its configured webhook. Exit code 1 on a finding.',
  example: `doctor ${exampleUrl}`,
  flags,
  words: 1,
  async run(given) {
    const [target] = given.positionals;
    const isUrl = /^https?:\/\/./i.test(target ?? exampleUrl);
    refuseUnless(isUrl, `Pass one URL: your webhook, such as ${exampleUrl}.`);
    const price = { amount: given.text('amount'), currency: given.text('currency') };
    const { problem } = readOrderPrice(price);
    refuseUnless(problem === undefined, `--${problem}`);
    let step = '';
    const onStep = (next: string) => {
      step = next;
    };
    // On stderr, what takes longer than a second.
    const progress = setInterval(() => {
      if (step) warn(`Waiting for the response to: ${step} …`);
      step = '';
    }, 1000);
    try {
      const diagnosis = await (target === undefined
        ? fromSandbox(given, price, onStep)
        : examine(target, given, { ...price, onStep }));
      const shown = readAs(report, diagnosis);
      return show(given.has('json'), diagnosis, () => reportOf(shown), shown.ok);
    } finally {
      clearInterval(progress);
    }
  },
});

async function examine(
  target: string,
  given: Flags<keyof typeof flags>,
  options: DoctorOptions,
): Promise<object> {
  refuseUnless(
    !given.isPassed('url') && !given.isPassed('token'),
    '--url and --token name a running sandbox, which examines its own webhook: pass no URL.',
  );
  const scheme = readSchemeFlag(given.text('scheme'));
  const secret = await webhookSecret();
  try {
    return await createSandbox({
      webhookSecret: secret,
      allowRemoteWebhooks: given.has('allow-remote'),
      unspecified: scheme && { signature: scheme },
    }).doctor(target, options);
  } catch (error) {
    if (!InvalidField.is(error) || error.field !== 'webhookSecret') throw error;
    throw new CommandError(`PAYMENTS_WEBHOOK_SECRET${error.problem}`);
  }
}

function fromSandbox(
  given: Flags<keyof typeof flags>,
  price: object,
  onStep: (step: string) => void,
): Promise<object> {
  refuseUnless(
    !given.isPassed('scheme') && !given.isPassed('allow-remote'),
    '--scheme and --allow-remote go with a URL; a running sandbox has settings of its own.',
  );
  onStep('the deliveries of the sandbox');
  return ask(given, 'POST', '/doctor', price).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(
      `${error.message}\nOr pass the URL of your webhook: merchant-payments doctor ${exampleUrl}`,
    );
  });
}
