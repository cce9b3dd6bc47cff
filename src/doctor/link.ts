import { Buffer } from 'node:buffer';

export type Link = Awaited<ReturnType<typeof findLink>>;

/** Retrieves a checkout session from the service; `undefined` if there is none with that id. Rejects if it cannot tell. */
export type RetrieveCheckout = (id: string) => Promise<{ amount: unknown; currency: unknown } | undefined>;

const askAtMost = 5;

/** Finds the field of an event that names its checkout: asks for the likeliest values as checkout ids, five at most. */
export async function findLink(rawBody: Uint8Array, retrieve: RetrieveCheckout) {
  const fields = fieldsOf(rawBody);
  const candidates = candidatesOf(fields);
  const asked: string[] = [];
  const told = { undocumented: undocumentedOf(fields), asked };
  for (const { path, id, value } of candidates.slice(0, askAtMost)) {
    asked.push(path);
    const checkout = await retrieve(id);
    if (!checkout) continue;
    const part = id === value ? '' : ` after ${JSON.stringify(value.slice(0, value.indexOf(id)))}`;
    const same = fields.filter((other) => other.path !== path && String(other.value) === value);
    const isAlike = (['amount', 'currency'] as const).every((name) => agrees(fields, name, checkout[name]));
    return {
      ...told,
      found: true,
      summary: `${path} names the checkout session${part}: GET /v1/checkouts/{id} finds it.`,
      field: path,
      /** The field's value, or a part of it. */
      checkoutId: id,
      notes: [
        ...same.map((other) => `${other.path} has the same value.`),
        !isAlike && 'Amount or currency of that checkout differ from the event: it may be another one.',
        'The specification does not promise this: ask the service to confirm that it will stay.',
      ].filter((note) => note !== false),
    };
  }
  const left = candidates.length - asked.length;
  return {
    ...told,
    found: false,
    summary: asked[0]
      ? `No field of this event names its checkout session: the service has none with the value of ${asked.join(', ')}.`
      : 'Nothing in this event can be the id of a checkout session.',
    field: undefined,
    checkoutId: undefined,
    notes: [
      fields.length === 0 && 'The body is not JSON, or has no fields.',
      left > 0 && `${left} less likely values were not tried.`,
      'Give each open order an amount of its own instead, and match by it: docs/which-order.md.',
    ].filter((note) => note !== false),
  };
}

function agrees(fields: readonly Field[], name: string, value: unknown): boolean {
  const own = fields.find(({ path }) => path === `data.${name}`)?.value;
  return own === undefined || value === undefined || own === value || Number(own) === Number(value);
}

/** A value of an event's body, and where it is, such as `data.items[0].checkout_id`. */
type Field = { path: string; value: unknown };

/** Text of a field that may be a checkout's id: the whole value, or a part of it such as the end of a URL. */
type Candidate = { path: string; id: string; value: string };

const documented = new Set(['type', 'data.order_id', 'data.amount', 'data.currency']);

export function fieldsOf(rawBody: Uint8Array): Field[] {
  try {
    return leaves(JSON.parse(Buffer.from(rawBody).toString('utf8')), '');
  } catch {
    return [];
  }
}

function leaves(value: unknown, path: string): Field[] {
  if (Array.isArray(value)) return value.flatMap((one, index) => leaves(one, `${path}[${index}]`));
  if (typeof value !== 'object' || value === null) return path === '' ? [] : [{ path, value }];
  const under = path && `${path}.`;
  const at = (name: string) => (/^\w+$/.test(name) ? under + name : `${path}[${JSON.stringify(name)}]`);
  return Object.entries(value).flatMap(([name, one]) => leaves(one, at(name)));
}

/** The paths that the specification does not list, an array's once. */
function undocumentedOf(fields: readonly Field[]): string[] {
  const paths = fields.map(({ path }) => path.replaceAll(/\[\d+\]/g, '[0]'));
  return [...new Set(paths)].filter((path) => !documented.has(path));
}

/** Values in an event that may be its checkout's id, the likeliest first, each id once. */
function candidatesOf(fields: readonly Field[]): Candidate[] {
  const all = fields
    .filter(({ path }) => path === 'data.order_id' || !documented.has(path))
    .filter(({ value }) => typeof value === 'string' || Number.isSafeInteger(value))
    .flatMap(({ path, value }) => idsIn(String(value)).map((id) => ({ path, id, value: String(value) })))
    .filter((candidate) => likelihood(candidate) > 0)
    .sort((one, other) => likelihood(other) - likelihood(one));
  return all.filter(({ id }, index) => all.findIndex((other) => other.id === id) === index);
}

/** The value itself if it can be an id, and the parts of a URL, of JSON or of `checkout:<id>` that can. */
function idsIn(value: string): string[] {
  const prose = /[\s@]/.test(value);
  const parts = value
    .split(/[^\w-]+/)
    .filter((part) => part !== value && part.length <= 128 && !ofSomethingElse.test(part))
    .filter((part) => ofCheckout.test(part) || (!prose && looksRandom(part)));
  return /^(?!\.+$)[\w.~:-]{1,128}$/.test(value) && !ofSomethingElse.test(value) ? [value, ...parts] : parts;
}

/** A digit among six characters or more, or more characters than a word has. */
const looksRandom = (id: string): boolean => (/\d/.test(id) && id.length >= 6) || id.length >= 16;

/** How ids of checkouts begin, here and elsewhere. */
const ofCheckout = /^(?:chk|cs|co|checkout|sess?(?:ion)?)[_-]/i;

/** A date, an amount, an API key. */
const ofSomethingElse = /^\d{4}-\d\d-\d\d|^-?\d+\.\d+$|^service_(?:live|test)_/;

const ofAnother = /^(?:prod|evt|event|ord|order|cus|customer|pay|pi|ch)_/i;

function likelihood({ path, id, value }: Candidate): number {
  const named = /(?:checkout|session)(?:_?id|\W?id|\W?reference|\W?token|_?url)?$/i.test(path);
  let points = 0;
  if (named) points += 6;
  else if (/(?:^|[._])id$|Id$/.test(path)) points += 2;
  if (ofCheckout.test(id)) points += 6;
  else if (ofAnother.test(id)) points -= 1;
  if (looksRandom(id)) points += 2;
  else points += /\d/.test(id) ? 1 : -4;
  if (id === value || /[:/]/.test(value)) points += 1;
  return points;
}
