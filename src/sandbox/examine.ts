import type { Diagnosis, DoctorOptions } from '../doctor/diagnosis.js';
import { diagnose, readOrderPrice } from '../doctor/doctor.js';
import type { WebhookTarget } from '../sending/delivery.js';
import { InvalidField, refuse, SandboxError } from './checks.js';
import type { SandboxParts } from './context.js';
import { send, targetProblem } from './delivery/send.js';

/** Has the doctor examine a receiver with the sandbox's secret, scheme and limits. */
export async function examine(
  { settings, reach }: SandboxParts,
  target: WebhookTarget | undefined,
  options: DoctorOptions,
): Promise<Diagnosis> {
  const { webhook, webhookSecret, choices, allowRemoteWebhooks: allowRemote } = settings;
  const patient = target ?? webhook;
  refuse('doctor', 'target', targetProblem(patient, allowRemote));
  if (patient === undefined)
    throw new SandboxError('no_webhook', 'doctor: pass the URL or the route handler, or set a webhook.');
  const { price, problem } = readOrderPrice(options);
  if (problem !== undefined) throw new InvalidField('doctor', '', problem);
  const limits = { withinMs: choices.deliveryTimeoutMs, allowRemote, stop: reach.closing };
  return diagnose({
    target: patient,
    price,
    onStep: options.onStep,
    signer: { secret: webhookSecret, scheme: choices.signature },
    send: async (to, outgoing) => {
      const sent = await send(to, outgoing, limits);
      if (sent.code === 'address_refused') refuse('doctor', 'target', sent.error);
      return sent;
    },
  });
}
