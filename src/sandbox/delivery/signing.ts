import { newSecret, type Outgoing } from '../../sending/delivery.js';
import { version } from '../../version.js';
import { sign } from '../../webhooks/index.js';
import { oneOf } from '../checks.js';
import type { Clock } from '../service/clock.js';
import type { Settings } from '../settings.js';

/** What is wrong with a delivery. */
export type Tamper =
  /** The amount is raised after signing. */
  | 'body'
  /** Another signature. */
  | 'signature'
  /** Another timestamp than the one that was signed. */
  | 'timestamp'
  /** No signature and no timestamp. */
  | 'missing'
  /** Signed with another secret. */
  | 'secret'
  /** Validly signed, a day ago. */
  | 'stale'
  /** Validly signed, a day ahead. */
  | 'future';

export const tampers = ['body', 'signature', 'timestamp', 'missing', 'secret', 'stale', 'future'] as const;
export const tamper = oneOf(tampers);

const dayMs = 86_400_000;
const daysOff: Partial<Record<Tamper, number>> = { stale: -1, future: 1 };

/** Signs a body now, or tampers with it in one way. */
export function signed(body: string, settings: Settings, clock: Clock, tamper?: Tamper): Outgoing {
  const now = settings.signatureTime === 'real' ? Date.now() : clock.now();
  const time = now + dayMs * ((tamper && daysOff[tamper]) ?? 0);
  const { signature: scheme } = settings.choices;
  const secret = tamper === 'secret' ? newSecret(scheme) : settings.webhookSecret;
  const own = sign({ rawBody: body, secret, timestamp: new Date(time), scheme });
  const [signatureHeader = '', timestampHeader = ''] = Object.keys(own);
  if (tamper === 'signature') own[signatureHeader] = altered(own[signatureHeader] ?? '');
  if (tamper === 'timestamp') {
    const later = sign({ rawBody: body, secret, timestamp: new Date(time + 1000), scheme });
    own[timestampHeader] = later[timestampHeader] ?? '';
  }
  return {
    headers: {
      'content-type': 'application/json',
      'user-agent': `merchant-payments-sandbox/${version}`,
      ...(tamper === 'missing' ? {} : own),
    },
    // A higher amount: what a forger would want.
    body: tamper === 'body' ? body.replace(/("amount": ?"?)/, '$19') : body,
  };
}

/** Another signature of the same form. */
function altered(signature: string): string {
  const at = Math.max(0, signature.length - 10);
  return signature.slice(0, at) + (signature[at] === '0' ? '1' : '0') + signature.slice(at + 1);
}
