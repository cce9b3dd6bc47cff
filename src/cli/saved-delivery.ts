import { accessSync, constants, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import * as z from 'zod/mini';
import { CommandError, codeOf } from './terminal.js';

/** A captured delivery, as `identifyScheme()` takes it. */
export interface SavedDelivery {
  rawBody: Uint8Array;
  headers: [string, string][] | Record<string, string | undefined>;
}

const file = z.object({
  receivedAt: z.string(),
  path: z.string(),
  headers: z.array(z.tuple([z.string(), z.string()])),
  bodyBase64: z.string(),
});

/** Fails where `saveDelivery()` would: to be known before the one delivery comes. */
export function checkNewFile(name: string): void {
  if (existsSync(name)) throw new CommandError(`${name} exists already. Pass another --out.`);
  try {
    accessSync(dirname(name), constants.W_OK);
  } catch (error) {
    throw unwritable(name, error);
  }
}

/** Writes a delivery byte for byte to a new file that only its owner can read: it holds a customer's payment. */
export function saveDelivery(
  name: string,
  delivery: { path: string; headers: [string, string][]; body: Buffer },
): void {
  const { path, headers, body } = delivery;
  const content = {
    receivedAt: new Date().toISOString(),
    path,
    headers,
    bodyBase64: body.toString('base64'),
    bodyText: body.toString('utf8'),
  };
  try {
    writeFileSync(name, `${JSON.stringify(content, null, 2)}\n`, { mode: 0o600, flag: 'wx' });
  } catch (error) {
    throw unwritable(name, error);
  }
}

const unwritable = (name: string, error: unknown) =>
  new CommandError(`${name} cannot be written (${codeOf(error) ?? 'unknown error'}). Pass another --out.`);

export function readSavedDelivery(name: string): SavedDelivery {
  const result = file.safeParse(parse(name));
  if (!result.success)
    throw new CommandError(
      `${name} was not written by \`merchant-payments capture\`. If it is a raw body, pass it with --body.`,
    );
  return { rawBody: Buffer.from(result.data.bodyBase64, 'base64'), headers: result.data.headers };
}

function parse(name: string): unknown {
  let text: string;
  try {
    text = readFileSync(name, 'utf8');
  } catch {
    throw new CommandError(`${name} cannot be read. Pass the file that \`capture\` wrote.`);
  }
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
