import * as z from 'zod/mini';
import { createSandbox } from '../sandbox/sandbox.js';
import { SandboxError } from '../sandbox/sandbox-error.js';
import type { SignatureScheme } from '../webhooks/index.js';
import type { Command } from './command.js';
import { type Report, reportOf } from './doctor-report.js';
import { Flags } from './flags.js';
import { ask, runningFlags } from './running.js';
import { CommandError, UsageError } from './terminal.js';
import { webhookSecret } from './webhook-secret.js';

const flags = {
  'allow-remote': {
    text: 'examines a public address too: it gets rightly signed payments that are not real',
  },
  scheme: {
    value: '<json>',
    text: 'how to sign, such as {"encoding":"base64"}; default: the default scheme',
  },
  ...runningFlags,
} as const;

/** Tells what is wrong with a webhook receiver. */
export const doctor: Command = {
  summary: 'tells why a webhook receiver refuses, and the line to change: doctor <url>',
  usage:
    'doctor [<url of your webhook>] [flags]\n\n' +
    'With a URL, the secret is read from PAYMENTS_WEBHOOK_SECRET, else asked for. Without one, a running sandbox examines\n' +
    'the webhook that it is set to. Exit code 1 on a finding.',
  flags,
  async run(args) {
    const given = new Flags(flags, args);
    const [target, ...rest] = given.positionals;
    if (rest.length > 0) throw new UsageError('Pass one URL: that of your webhook.');
    const diagnosis = target === undefined ? await fromSandbox(given) : await examine(target, given);
    process.stdout.write(given.has('json') ? `${JSON.stringify(diagnosis)}\n` : `${reportOf(diagnosis)}\n`);
    return diagnosis.ok ? 0 : 1;
  },
};

async function examine(target: string, given: Flags<typeof flags>): Promise<Report> {
  const scheme = schemeOf(given.text('scheme'));
  const sandbox = createSandbox({
    webhookSecret: await webhookSecret(),
    allowRemoteWebhooks: given.has('allow-remote'),
    unspecified: scheme && { signature: scheme },
  });
  try {
    return await sandbox.doctor(target);
  } catch (error) {
    if (!(error instanceof SandboxError)) throw error;
    throw new CommandError(
      error.message.replace('Allow remote webhooks if it is meant.', 'Pass --allow-remote if it is meant.'),
    );
  } finally {
    await sandbox.close();
  }
}

const finding = z.object({
  problem: z.string(),
  fix: z.string(),
  evidence: z.optional(z.string()),
});

/** What a sandbox of this version answers. */
const report = z.looseObject({
  ok: z.boolean(),
  target: z.string(),
  summary: z.string(),
  findings: z.array(finding),
  warnings: z.array(finding),
  notes: z.array(z.string()),
  probes: z.array(
    z.object({
      says: z.string(),
      expected: z.enum(['accepted', 'refused']),
      outcome: z.enum(['accepted', 'refused', 'no answer']),
      status: z.optional(z.number()),
      durationMs: z.number(),
    }),
  ),
  tried: z.number(),
  expects: z.optional(z.looseObject({})),
});

async function fromSandbox(given: Flags<typeof flags>): Promise<Report> {
  if (given.text('scheme') !== undefined || given.has('allow-remote'))
    throw new UsageError(
      '--scheme and --allow-remote go with a URL; a running sandbox has settings of its own.',
    );
  const result = report.safeParse(await ask(given, 'POST', '/doctor', {}));
  if (result.success) return result.data;
  throw new CommandError('The sandbox is of another version than this command.');
}

function schemeOf(text: string | undefined): Partial<SignatureScheme> | undefined {
  if (text === undefined) return undefined;
  try {
    const scheme: unknown = JSON.parse(text);
    if (typeof scheme === 'object' && scheme !== null) return { ...scheme };
  } catch {
    // Told below, as for JSON that is no object.
  }
  throw new UsageError('--scheme: pass a JSON object, such as {"content":"{timestamp}{body}"}.');
}
