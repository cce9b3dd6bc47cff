import { limits, type ProductUpdateParams } from '../../schemas/params.js';
import type { RequestNotes } from './notes.js';
import { type ObjectSchema, readParameters } from './parameters.js';

// Limits that the specification does not state. Each is a choice with a name.

/** A product's parameters: within the specification's limits, then within the sandbox's own. */
export function readProduct<Params extends ProductUpdateParams>(
  schema: ObjectSchema<Params>,
  body: Record<string, unknown>,
  notes: RequestNotes,
): Params {
  const params = readParameters(schema, readLeniently(body, notes), notes);
  const { name, image, currency } = params;
  const { choices } = notes;
  if (name !== undefined && name.length > limits.nameLength) {
    const problem = `name: has ${name.length} UTF-16 units. Pass at most ${limits.nameLength}.`;
    notes.limit('nameLength', choices.nameLength === 'utf-16' && problem);
  }
  if (currency !== undefined && !Intl.supportedValuesOf('currency').includes(currency)) {
    const problem = `currency: "${currency}" is not a currency of ISO 4217.`;
    notes.limit('currencyForm', choices.currencyForm === 'iso-4217' && problem);
  }
  if (image !== undefined) checkImage(new URL(image), notes);
  checkCredentials(image, 'image', notes);
  return params;
}

/**
 * The body of a product before it is checked: numbers and booleans in `metadata` as strings, and a currency in upper
 * case, as chosen. Spec: metadata has arbitrary values, "shown as strings"; the currency is a "three-letter ISO code".
 */
function readLeniently(body: Record<string, unknown>, notes: RequestNotes): Record<string, unknown> {
  const { metadata, currency } = body;
  const read = { ...body };
  const entries = typeof metadata === 'object' && metadata !== null ? Object.entries(metadata) : [];
  if (!Array.isArray(metadata) && entries.some(([, value]) => typeof value !== 'string')) {
    notes.mark('metadata');
    const written = (value: unknown) =>
      typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
    if (notes.choices.metadata === 'to-text')
      read.metadata = Object.fromEntries(entries.map(([name, value]) => [name, written(value)]));
  }
  if (typeof currency === 'string' && currency !== currency.toUpperCase()) {
    notes.mark('currencyForm');
    if (notes.choices.currencyForm === 'any-case') read.currency = currency.toUpperCase();
  }
  return read;
}

function checkImage({ protocol }: URL, notes: RequestNotes): void {
  if (protocol === 'https:') return;
  const { imageScheme } = notes.choices;
  const accepted = imageScheme === 'any' || (imageScheme === 'http' && protocol === 'http:');
  const wanted = imageScheme === 'http' ? 'an http: or https: URL' : 'an https: URL';
  notes.limit('imageScheme', !accepted && `image: is not ${wanted}.`);
}

/** A URL with a user name in it can look like another host's. */
export function checkCredentials(url: string | undefined, field: string, notes: RequestNotes): void {
  if (url === undefined) return;
  const { username, password } = new URL(url);
  if (username === '' && password === '') return;
  const problem = `${field}: holds a user name or password. Pass a URL without them.`;
  notes.limit('urlCredentials', notes.choices.urlCredentials === 'reject' && problem);
}
