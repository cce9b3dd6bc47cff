import { apiKeys } from './redact.js';

/**
 * Returns a text with its control, escape and bidirectional characters written as `\u001b`, so that a stranger's text can
 * neither control a terminal nor hide.
 */
export function escapeInvisible(text: string): string {
  return text.replaceAll(/[\p{Cc}\u061c\u200e\u200f\u2028-\u202e\u2066-\u2069\ufeff]/gu, escapeUnit);
}

/** Returns a UTF-16 code unit written as `\u001b`. */
export function escapeUnit(unit: string): string {
  return `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`;
}

/**
 * Returns a value for a message: a number, a string (shortened, on one line, without API keys), or the kind of any other
 * value.
 */
export function quote(value: unknown): string {
  if (typeof value === 'number') return String(value);
  if (typeof value !== 'string') return kindOf(value);
  const start = value.length > 60 ? `${value.slice(0, 60)}…` : value;
  return escapeInvisible(JSON.stringify(start)).replace(apiKeys, '[redacted]');
}

/** Returns the kind of a value of the wrong type. A number is quoted; a string is not, because it may be a secret. */
export function kindOf(value: unknown): string {
  if (value === null || value === undefined || typeof value === 'boolean') return String(value);
  if (typeof value === 'number') return `the number ${value}`;
  if (Array.isArray(value)) return 'an array';
  if (value instanceof Promise) return 'a promise: await it';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}

/** Returns the kind of a parameter of the wrong type. A string is quoted, because parameters hold no secrets. */
export function kindAndText(value: unknown): string {
  return typeof value === 'string' ? `the string ${quote(value)}` : kindOf(value);
}
