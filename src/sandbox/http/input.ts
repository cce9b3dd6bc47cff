import type * as z from 'zod/mini';
import type { Issue } from '../../errors.js';
import { issuesInWords, readInto, unknownName } from '../../input/read.js';
import { limits } from '../../schemas/params.js';
import { excerpt } from '../service/event.js';
import type { RequestNotes } from './log.js';
import { Refusal } from './table.js';

/** Reads a JSON object, or throws a refusal. Without notes, as on the control routes, an empty body counts as `{}`. */
export async function readObject(request: Request, notes?: RequestNotes): Promise<Record<string, unknown>> {
  const type = request.headers.get('content-type')?.split(';')[0]?.trim().toLowerCase();
  const bytes = await readBytes(request);
  if (!notes && bytes.byteLength === 0 && (type === undefined || type === 'application/json')) return {};
  const undeclared = 'The body is not declared as JSON. Send Content-Type: application/json.';
  if (type !== 'application/json') throw new Refusal('content_type', undeclared);
  const text = decode(bytes);
  if (notes) notes.body = excerpt(text);
  const problem = text.trim() === '' ? 'The body is empty.' : 'The body is not valid JSON.';
  const value: unknown = attempt(() => JSON.parse(text), problem);
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return { ...value };
  throw new Refusal('validation', 'The body is not a JSON object.');
}

export const outOfDate = 'The form is out of date: the sandbox was started anew. Nothing was done.';

export async function readForm(request: Request): Promise<Record<string, string>> {
  return Object.fromEntries(new URLSearchParams(decode(await readBytes(request))));
}

/**
 * Reads the whole body. Throws a refusal as soon as it is over the limit. docs/decisions/hono-middleware.md says why hono's limit
 * is not used.
 */
async function readBytes(request: Request): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of request.body ?? []) {
    size += chunk.byteLength;
    if (size > 1024 * 1024) throw new Refusal('body_too_large', 'The body is larger than 1 MiB.');
    chunks.push(chunk);
  }
  return Buffer.concat(chunks);
}

const decode = (bytes: Uint8Array): string =>
  attempt(() => new TextDecoder('utf-8', { fatal: true }).decode(bytes), 'The body is not UTF-8.');

function attempt<T>(read: () => T, problem: string): T {
  try {
    return read();
  } catch {
    throw new Refusal('malformed_json', problem);
  }
}

type ObjectSchema<Params> = z.ZodMiniType<Params> & { readonly def: { readonly shape: object } };

/** Checks parameters by the client's schema. The choice `unknownFields` decides if a field that the spec does not list is refused or noted. */
export function readParameters<Params>(schema: ObjectSchema<Params>, given: object, notes: RequestNotes) {
  const known = Object.keys(schema.def.shape);
  const entries = Object.entries(given);
  const listed = Object.fromEntries(entries.filter(([name]) => known.includes(name)));
  const unknown = entries.map(([name]) => name).filter((name) => !known.includes(name));
  const strays = unknown.map((name) => unknownName([], name, known));
  const issues: Issue[] = [];
  const params = readInto(issues, schema, listed);
  if (strays.length > 0) {
    notes.mark('unknownFields');
    if (notes.choices.unknownFields === 'reject') issues.push(...strays);
    else notes.warnings.push(...strays.map((stray) => issuesInWords([stray], '')));
  }
  if (params && issues.length === 0) return params;
  throw new Refusal('validation', issuesInWords(issues, 'The body'));
}

// The limits below are not in the specification. A response that depends on one names it.

/** Reads a product's parameters: checks the specification's limits, then the sandbox's own. */
export function readProduct<
  Params extends { name?: string | undefined; image?: string | undefined; currency?: string | undefined },
>(schema: ObjectSchema<Params>, body: Record<string, unknown>, notes: RequestNotes): Params {
  const params = readParameters(schema, readLeniently(body, notes), notes);
  const { name, image, currency } = params;
  if (name !== undefined && name.length > limits.nameLength) notes.mark('nameLength');
  if (currency !== undefined && !Intl.supportedValuesOf('currency').includes(currency))
    notes.mark('currencyForm');
  if (image !== undefined && !/^https:/i.test(image))
    notes.limit('imageScheme', !/^http:/i.test(image) && 'image is not an http: or https: URL.');
  checkCredentials(image, 'image', notes);
  return params;
}

/** Returns a body with the numbers and booleans in `metadata` as strings. Spec: values are "shown as strings". */
function readLeniently(body: Record<string, unknown>, notes: RequestNotes): Record<string, unknown> {
  const { metadata, currency } = body;
  const read = { ...body };
  const entries = typeof metadata === 'object' && metadata !== null ? Object.entries(metadata) : [];
  if (!Array.isArray(metadata) && entries.some(([, value]) => typeof value !== 'string')) {
    notes.mark('metadata');
    const asText = (value: unknown) => (/^(?:number|boolean)$/.test(typeof value) ? String(value) : value);
    read.metadata = Object.fromEntries(entries.map(([name, value]) => [name, asText(value)]));
  }
  if (typeof currency === 'string' && currency !== currency.toUpperCase()) notes.mark('currencyForm');
  return read;
}

/** Refuses a URL with a user name or password, because such a URL can look like another host's. */
export function checkCredentials(url: string | undefined, field: string, notes: RequestNotes): void {
  if (url === undefined) return;
  const { username, password } = new URL(url);
  if (username === '' && password === '') return;
  notes.limit('urlCredentials', `${field} holds a user name or password. Pass a URL without them.`);
}
