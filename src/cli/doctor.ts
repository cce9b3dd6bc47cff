import type { DoctorOptions } from '../doctor/diagnosis.js';
import { readOrderPrice } from '../doctor/doctor.js';
import { InvalidField } from '../sandbox/checks.js';
import { createSandbox } from '../sandbox/create.js';
import { command, type Flags } from './command.js';
import { report, reportOf } from './doctor-report.js';
import { ask, readAs, runningFlags } from './running.js';
import { readSchemeFlag, schemeFlag } from './scheme-flag.js';
import { CommandError, show, UsageError, warn } from './terminal.js';
import { webhookSecret } from './webhook-secret.js';

const flags = {
  amount: {
    value: '<amount>',
    text: 'the amount of the test order; default 98765.43, which no shop charges',
  },
  currency: { value: '<code>', text: 'its currency; default USD' },
  scheme: schemeFlag,
  'allow-remote': { text: 'also examines a public address, which then receives signed fake payments' },
  ...runningFlags,
  json: { text: 'prints the diagnosis as JSON' },
} as const;

export const doctor = command({
  summary: 'explains why valid webhooks are rejected, and the line to change: doctor <url>',
  usage:
    'doctor [<url of your webhook>] [flags]\n\n' +
    'With a URL, the secret is read from PAYMENTS_WEBHOOK_SECRET, or you are prompted for it. Without one, a running sandbox examines\n' +
    'its configured webhook. Exit code 1 on a finding.',
  example: 'doctor http://localhost:3000/webhooks',
  flags,
  words: 1,
  async run(given) {
    const [target] = given.positionals;
    if (target !== undefined && !/^https?:\/\/./i.test(target))
      throw new UsageError('Pass one URL: your webhook, such as http://localhost:3000/webhooks.');
    const price = { amount: given.text('amount'), currency: given.text('currency') };
    const { problem } = readOrderPrice(price);
    if (problem !== undefined) throw new UsageError(`--${problem}`);
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
  const scheme = readSchemeFlag(given.text('scheme'));
  const secret = await webhookSecret();
  try {
    return await createSandbox({
      webhookSecret: secret,
      allowRemoteWebhooks: given.has('allow-remote'),
      unspecified: scheme && { signature: scheme },
    }).doctor(target, options);
  } catch (error) {
    if (!(error instanceof InvalidField && error.field === 'webhookSecret')) throw error;
    throw new CommandError(`PAYMENTS_WEBHOOK_SECRET${error.problem}`);
  }
}

function fromSandbox(
  given: Flags<keyof typeof flags>,
  price: object,
  onStep: (step: string) => void,
): Promise<object> {
  if (given.text('scheme') !== undefined || given.has('allow-remote'))
    throw new UsageError(
      '--scheme and --allow-remote go with a URL; a running sandbox has settings of its own.',
    );
  onStep('the deliveries of the sandbox');
  return ask(given, 'POST', '/doctor', price).catch((error: unknown) => {
    if (!(error instanceof CommandError)) throw error;
    throw new CommandError(
      `${error.message}\nOr pass the URL of your webhook: merchant-payments doctor http://localhost:3000/webhooks`,
    );
  });
}
