import { readFileSync } from 'node:fs';
import * as z from 'zod/mini';
import { parseObject } from '../doctor/json.js';
import { CommandError } from './terminal.js';

/** Content of a file that `capture` writes. */
const captured = z.object({
  headers: z.array(z.tuple([z.string(), z.string()])),
  bodyBase64: z.string(),
  receivedAt: z.optional(z.string()),
});

/** A `Delivery` as a receiver of this package stores it. A body that is not UTF-8 is in base64. */
const stored = z.object({
  headers: z.record(z.string(), z.string()),
  rawBody: z.string(),
  encoding: z.optional(z.literal('base64')),
  receivedAt: z.optional(z.string()),
});

/** Reads a file with one delivery. If the file has no `receivedAt`, the delivery counts as received now. */
export function deliveryInFile(name: string) {
  const content = new TextDecoder().decode(contentOf(name, 'the delivery'));
  const { data } = z.union([captured, stored]).safeParse(parseObject(content));
  if (!data) throw new CommandError(`${name} holds no delivery. If it is a raw body, pass it with --body.`);
  const { headers, receivedAt = new Date().toISOString() } = data;
  if ('bodyBase64' in data) return { rawBody: Buffer.from(data.bodyBase64, 'base64'), headers, receivedAt };
  return { rawBody: Buffer.from(data.rawBody, data.encoding ?? 'utf8'), headers, receivedAt };
}

export function contentOf(name: string, what: string): Buffer {
  try {
    return readFileSync(name);
  } catch {
    throw new CommandError(`${name} cannot be read. Pass the file that holds ${what}.`);
  }
}
