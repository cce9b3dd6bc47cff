import { limits } from '../../schemas/params.js';
import type { Choices } from '../service/choices.js';
import { Refusal, type RequestNotes } from './notes.js';

// Limits that the specification does not state. Each is a choice with a name.

/**
 * The body of a product before it is checked: numbers and booleans in `metadata` as strings, and a currency in upper
 * case, as chosen. Spec: metadata has arbitrary values, "shown as strings"; the currency is a "three-letter ISO code".
 */
export function readLeniently(
  body: Record<string, unknown>,
  notes: RequestNotes,
  { metadata: choice, currencyForm }: Choices,
): Record<string, unknown> {
  const { metadata, currency } = body;
  const read = { ...body };
  const entries = typeof metadata === 'object' && metadata !== null ? Object.entries(metadata) : [];
  if (!Array.isArray(metadata) && entries.some(([, value]) => typeof value !== 'string')) {
    notes.mark('metadata');
    const written = (value: unknown) =>
      typeof value === 'number' || typeof value === 'boolean' ? String(value) : value;
    if (choice === 'to-text')
      read.metadata = Object.fromEntries(entries.map(([name, value]) => [name, written(value)]));
  }
  if (typeof currency === 'string' && currency !== currency.toUpperCase()) {
    notes.mark('currencyForm');
    if (currencyForm === 'any-case') read.currency = currency.toUpperCase();
  }
  return read;
}

/** What is checked of a product beyond the specification's limits. */
export function checkProduct(
  {
    name,
    image,
    currency,
  }: { name?: string | undefined; image?: string | undefined; currency?: string | undefined },
  notes: RequestNotes,
  choices: Choices,
): void {
  if (name !== undefined && name.length > limits.nameLength) {
    notes.mark('nameLength');
    if (choices.nameLength === 'utf-16')
      throw new Refusal(
        'validation',
        `name: has ${name.length} UTF-16 units. Pass at most ${limits.nameLength}.`,
      );
  }
  if (currency !== undefined && !Intl.supportedValuesOf('currency').includes(currency)) {
    notes.mark('currencyForm');
    if (choices.currencyForm === 'iso-4217')
      throw new Refusal('validation', `currency: "${currency}" is not a currency of ISO 4217.`);
  }
  if (image === undefined) return;
  checkImage(new URL(image), notes, choices);
  checkCredentials(image, 'image', notes, choices);
}

function checkImage({ protocol }: URL, notes: RequestNotes, { imageScheme }: Choices): void {
  if (protocol === 'https:') return;
  notes.mark('imageScheme');
  if (imageScheme === 'any' || (imageScheme === 'http' && protocol === 'http:')) return;
  const wanted = imageScheme === 'http' ? 'an http: or https: URL' : 'an https: URL';
  throw new Refusal('validation', `image: is not ${wanted}.`);
}

/** A URL with a user name in it can look like another host's. */
export function checkCredentials(
  url: string | undefined,
  field: string,
  notes: RequestNotes,
  { urlCredentials }: Choices,
): void {
  if (url === undefined) return;
  const { username, password } = new URL(url);
  if (username === '' && password === '') return;
  notes.mark('urlCredentials');
  if (urlCredentials === 'reject')
    throw new Refusal('validation', `${field}: holds a user name or password. Pass a URL without them.`);
}
