import * as z from 'zod/mini';
import { newSecret, type Outgoing } from '../../sending/delivery.js';
import { version } from '../../version.js';
import { sign } from '../../webhooks/index.js';
import type { Clock } from '../service/clock.js';
import type { Settings } from '../settings.js';

export const tampers = ['body', 'signature', 'timestamp', 'missing', 'secret', 'stale', 'future'] as const;

/**
 * A way to tamper with a delivery.
 * - `'body'` raises the amount after signing
 * - `'signature'` replaces the signature by one of another body
 * - `'timestamp'` replaces the timestamp after signing
 * - `'missing'` leaves out signature and timestamp
 * - `'secret'` signs with another secret
 * - `'stale'`, `'future'` sign validly, a day ago or a day ahead
 */
export type Tamper = (typeof tampers)[number];
export const tamper = z.enum(tampers);

const offMs: Partial<Record<Tamper, number>> = { stale: -86_400_000, future: 86_400_000 };

export function signBody(body: string, settings: Settings, clock: Clock, tamper?: Tamper): Outgoing {
  const now = settings.signatureTime === 'real' ? Date.now() : clock.now();
  const time = now + ((tamper && offMs[tamper]) ?? 0);
  const { signature: scheme } = settings.choices;
  const secret = tamper === 'secret' ? newSecret(scheme) : settings.webhookSecret;
  const own = sign({ rawBody: body, secret, timestamp: new Date(time), scheme });
  const [signatureHeader = '', timestampHeader = ''] = Object.keys(own);
  const changed = tamper === 'signature' ? signatureHeader : tamper === 'timestamp' && timestampHeader;
  if (changed) {
    const other = sign({ rawBody: ` ${body}`, secret, timestamp: new Date(time + 1000), scheme });
    own[changed] = other[changed] ?? '';
  }
  return {
    headers: {
      'content-type': 'application/json',
      'user-agent': `merchant-payments-sandbox/${version}`,
      ...(tamper === 'missing' ? {} : own),
    },
    // A forger would raise the amount.
    body: tamper === 'body' ? body.replace(/("amount": ?"?)/, '$19') : body,
  };
}
