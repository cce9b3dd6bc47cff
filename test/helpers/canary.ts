import { inspect } from 'node:util';
import { serialize } from 'node:v8';

/** Characters that change in URLs, in JSON and in HTML: a trace is found in whichever form it takes. */
export const canaryKey = 'sk~Canary+9/Zq"7=w\\5%2Fk&<e>';

/** Travels in bodies, both ways, and has no business in an error. */
export const bodyCanary = 'BodyCanary-4c1d';

/** Every place from which a secret can be read out of a value, by any means that a program or a log has. */
export function traces(value: unknown, secret = canaryKey): string[] {
  const found = new Set<string>();
  const look = (place: string, text: string) => {
    if (forms(secret).some((form) => text.toLowerCase().includes(form.toLowerCase()))) found.add(place);
  };
  for (const [place, text] of prints(value)) look(place, text);
  for (const [place, text] of texts(value)) look(place, text);
  return [...found];
}

function forms(secret: string): string[] {
  const json = JSON.stringify(secret).slice(1, -1);
  const base64 = Buffer.from(secret).toString('base64');
  const base64url = Buffer.from(secret).toString('base64url');
  return [secret, json, JSON.stringify(json).slice(1, -1), base64, base64url, encodeURIComponent(secret)];
}

/** Yields the value as printed, logged and sent. */
function* prints(value: unknown): Generator<[string, string]> {
  yield ['inspect', inspect(value, { depth: Infinity, showHidden: true, maxStringLength: null })];
  yield ['inspect with getters', inspect(value, { depth: Infinity, showHidden: true, getters: true })];
  yield ['String', attempt(() => String(value))];
  yield ['JSON', attempt(() => JSON.stringify(value) ?? '')];
  yield ['serialize, one byte', attempt(() => serialize(value).toString('latin1'))];
  yield ['serialize, two bytes', attempt(() => serialize(value).toString('utf16le'))];
}

/** Every text that is reachable: own and inherited, symbols, non-enumerable, getters, causes. */
function* texts(root: unknown): Generator<[string, string]> {
  const seen = new Set<unknown>(builtIns);
  const queue: [string, unknown][] = [['value', root]];
  for (let next = queue.shift(); next; next = queue.shift()) {
    const [place, value] = next;
    if (typeof value === 'string') yield [place, value];
    if (value === null || (typeof value !== 'object' && typeof value !== 'function') || seen.has(value))
      continue;
    seen.add(value);
    for (let link: object | null = value; link && !builtIns.has(link); link = Object.getPrototypeOf(link)) {
      for (const name of Reflect.ownKeys(link)) {
        yield [`${place}, a name`, String(name)];
        queue.push([`${place}.${String(name)}`, read(link, name, value)]);
      }
    }
    if (value instanceof Map || value instanceof Set || value instanceof Headers) {
      for (const [name, item] of value.entries())
        queue.push([`${place} entry`, name], [`${place} entry`, item]);
    }
  }
}

/** The language's own classes, which hold nothing of ours. */
const builtIns = new Set<unknown>(
  [Object, Function, Array, Error, Promise, Symbol, String, Number, Date, Map, Set].flatMap((builtIn) => [
    builtIn,
    builtIn.prototype,
  ]),
);

function read(holder: object, name: PropertyKey, receiver: object): unknown {
  try {
    return Reflect.get(holder, name, receiver);
  } catch {
    return undefined;
  }
}

function attempt(print: () => string): string {
  try {
    return print();
  } catch (error) {
    return String(error);
  }
}
