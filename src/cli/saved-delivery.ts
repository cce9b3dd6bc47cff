import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import * as z from 'zod/mini';
import type { IdentifyOptions } from '../doctor/identify.js';
import { parseObject } from '../doctor/json.js';
import { CommandError, codeOf } from './terminal.js';

/** A stored delivery, as `identifyScheme()` takes it. */
export type SavedDelivery = Pick<IdentifyOptions, 'headers'> & { rawBody: Uint8Array };

/** A delivery as it arrived. */
export interface Captured {
  path: string;
  headers: [string, string][];
  body: Buffer;
}

/** What `capture` writes. */
const captured = z.object({
  headers: z.array(z.tuple([z.string(), z.string()])),
  bodyBase64: z.string(),
});

/** A `Delivery`, as a receiver of this package stores it: in base64 if its body is not UTF-8. */
const stored = z.object({
  headers: z.record(z.string(), z.string()),
  rawBody: z.string(),
  encoding: z.optional(z.literal('base64')),
});

/** Fails where `saveDelivery()` would: to be known before the one delivery comes. */
export function checkNewFile(name: string): void {
  writeNew(name, '');
  rmSync(name);
}

/** Writes a delivery byte for byte to a new file that only its owner can read: it holds a customer's payment. */
export function saveDelivery(name: string, { body, ...request }: Captured): void {
  const texts = { bodyBase64: body.toString('base64'), bodyText: body.toString('utf8') };
  const content = { receivedAt: new Date().toISOString(), ...request, ...texts };
  writeNew(name, `${JSON.stringify(content, null, 2)}\n`);
}

function writeNew(name: string, text: string): void {
  try {
    writeFileSync(name, text, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    const code = codeOf(error);
    const why = code === 'EEXIST' ? 'exists already' : `cannot be written (${code})`;
    throw new CommandError(`${name} ${why}. Pass another --out.`);
  }
}

export function readSavedDelivery(name: string): SavedDelivery {
  const { data } = z.union([captured, stored]).safeParse(parseObject(readGiven(name).toString()));
  if (!data)
    throw new CommandError(
      `${name} holds no delivery: \`merchant-payments capture\` did not write it, and it is no stored Delivery. If it is a raw body, pass it with --body.`,
    );
  const { headers } = data;
  if ('bodyBase64' in data) return { rawBody: Buffer.from(data.bodyBase64, 'base64'), headers };
  return { rawBody: Buffer.from(data.rawBody, data.encoding ?? 'utf8'), headers };
}

/** The content of a file that was named. */
export function readGiven(name: string, what = 'the delivery'): Buffer {
  try {
    return readFileSync(name);
  } catch {
    throw new CommandError(`${name} cannot be read. Pass the file that holds ${what}.`);
  }
}
