import { createHash } from 'node:crypto';
import type { Sent } from './delivery.js';
import type { Probed } from './examination.js';

/** Whether two answers differ in more than numbers and ids. */
export function differ(one: Sent, other: Sent): boolean {
  const text = ({ body = '' }: Sent) => body.replaceAll(/[0-9a-f]{6,}|\d+/gi, '#');
  return one.status !== other.status || text(one) !== text(other);
}

/** What `webhooks.handler()` and `verify()` tell of the body that they were given. */
export function receivedBy(text: string): { bytes: number; sha256: string } | undefined {
  const bytes = Number(fieldOf(text, 'bytes'));
  const sha = fieldOf(text, 'sha256');
  return Number.isInteger(bytes) && sha !== undefined ? { bytes, sha256: sha.toLowerCase() } : undefined;
}

export function factsOf({ sent, body }: Probed): string {
  const received = receivedBy(sent.body ?? '');
  if (!received) return '';
  return received.sha256 === sha256(body)
    ? 'It verified the very bytes that were sent.'
    : `${Buffer.byteLength(body)} bytes were sent, it verified ${received.bytes}.`;
}

export function fieldOf(text: string, name: string): string | undefined {
  try {
    const parsed: unknown = JSON.parse(text);
    if (typeof parsed !== 'object' || parsed === null) return undefined;
    const value: unknown = Reflect.get(parsed, name);
    return typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
  } catch {
    return undefined;
  }
}

export const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
