import { Buffer } from 'node:buffer';

export type Link = Awaited<ReturnType<typeof findLink>>;

/** Retrieves a checkout session from the service; `undefined` if none has that id. Rejects if the response leaves this open. */
export type RetrieveCheckout = (id: string) => Promise<{ amount: unknown; currency: unknown } | undefined>;

const askAtMost = 10;

/** Finds the field of an event that names its checkout, by retrieving at most ten of the event's strings as checkout ids. */
export async function findLink(rawBody: Uint8Array, retrieve: RetrieveCheckout) {
  const fields = fieldsOf(rawBody);
  const candidates = candidatesOf(fields);
  const asked: string[] = [];
  const common = { undocumented: undocumentedOf(fields), asked };
  for (const { path, id, value } of candidates.slice(0, askAtMost)) {
    asked.push(path);
    const checkout = await retrieve(id);
    if (!checkout) continue;
    const part = id === value ? '' : ` after ${JSON.stringify(value.slice(0, value.indexOf(id)))}`;
    const same = fields.filter((other) => other.path !== path && String(other.value) === value);
    const isAlike = (['amount', 'currency'] as const).every((name) => agrees(fields, name, checkout[name]));
    return {
      ...common,
      found: true,
      summary: `${path} names the checkout session${part}: GET /v1/checkouts/{id} finds it.`,
      field: path,
      /** The field's value, or a part of the value. */
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
    ...common,
    found: false,
    summary: asked[0]
      ? `No field of this event names its checkout session: the service has none with the value of ${asked.join(', ')}.`
      : 'Nothing in this event can be the id of a checkout session.',
    field: undefined,
    checkoutId: undefined,
    notes: [
      fields.length === 0 && 'The body is not JSON, or has no fields.',
      left > 0 && `${left} more values were not tried.`,
      'Give each open order an amount of its own instead, and match by it: docs/which-order.md.',
    ].filter((note) => note !== false),
  };
}

function agrees(fields: readonly Field[], name: string, value: unknown): boolean {
  const own = fields.find(({ path }) => path === `data.${name}`)?.value;
  return own === undefined || value === undefined || own === value || Number(own) === Number(value);
}

/** A value in an event's body, and its path, such as `data.items[0].checkout_id`. */
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

/** Returns the paths that the specification does not list. The items of an array count as one path. */
function undocumentedOf(fields: readonly Field[]): string[] {
  const paths = fields.map(({ path }) => path.replaceAll(/\[\d+\]/g, '[0]'));
  return [...new Set(paths)].filter((path) => !documented.has(path));
}

/** Returns the strings in an event that may be its checkout's id, and the parts of a URL or of `checkout:<id>`, each once. */
function candidatesOf(fields: readonly Field[]): Candidate[] {
  const all = fields
    .filter(({ path }) => path === 'data.order_id' || !documented.has(path))
    .flatMap(({ path, value }) =>
      typeof value === 'string' ? idsIn(value).map((id) => ({ path, id, value })) : [],
    );
  return all.filter(({ id }, index) => all.findIndex((other) => other.id === id) === index);
}

/** Returns the value itself if it can be an id, and the parts of it that look like one. */
const idsIn = (value: string): string[] => {
  // Prose and e-mail addresses hold words that are no ids.
  const isOne = !/[\s@]/.test(value);
  const parts = isOne ? value.split(/[^\w-]+/).filter((part) => part !== value && isPart.test(part)) : [];
  return [value, ...parts].filter(
    (text) => /^(?!\.+$)[\w.~:-]{1,128}$/.test(text) && !ofSomethingElse.test(text),
  );
};

/** Matches five characters with a digit, or 16 characters, which is longer than most words. */
const isPart = /^(?=.*\d).{5}|^.{16}/;

/** Matches a date, an amount or an API key. */
const ofSomethingElse = /^\d{4}-\d\d-\d\d|^-?\d+\.\d+$|^service_(?:live|test)_/;
