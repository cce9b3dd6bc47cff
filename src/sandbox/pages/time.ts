import { html } from 'hono/html';
import type { Html } from './layout.js';

/** Returns a time such as `2026-11-20 14:03:22 UTC`, which is shown if no script runs. */
export const fullMoment = (at: Date): string => `${at.toISOString().slice(0, 19).replace('T', ' ')} UTC`;

/** Returns a time that the page's script rewrites in the browser's zone, if `form` is a date or a time of day. An age stays as it is. */
export const time = (at: Date, text: string, form: 'date' | 'day' | 'age'): Html =>
  html`<time datetime="${at.toISOString()}" title="${at.toISOString()}" data-form="${form}">${text}</time>`;

export const fullTime = (at: Date): Html => time(at, fullMoment(at), 'date');
