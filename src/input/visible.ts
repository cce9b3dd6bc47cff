import { apiKeys } from './redact.js';

/** Returns a text with its control, escape and bidirectional characters as `\u001b`, so that a stranger's text neither acts on a terminal nor hides. */
export function visible(text: string): string {
  return text.replaceAll(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu, escapedUnit);
}

/** Returns a UTF-16 code unit as `\u001b`. */
export function escapedUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/** Returns a value for a message: a string or a number itself, short, on one line and without API keys; the kind of any other. */
export function quote(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return kindOf(value);
  const start = value.length > 60 ? `${value.slice(0, 60)}…` : value;
  return visible(JSON.stringify(start)).replace(apiKeys, '[redacted]');
}

/** Returns the kind of a value of the wrong type: of a number the number itself, of a string no text, which may be a secret. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return `the number ${value}`;
  if (Array.isArray(value)) return 'an array';
  if (value instanceof Promise) return 'a promise: await it';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Returns the kind of a parameter of the wrong type, with the text of a string: no secret has a place among parameters. */
export function kindAndText(value: unknown): string {
  return typeof value === 'string' ? `the string ${quote(value)}` : kindOf(value);
}
