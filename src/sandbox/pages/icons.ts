import { html, raw } from 'hono/html';

const icon = (paths: string, size = 20) =>
  html`<svg class="icon" aria-hidden="true" width="${size}" height="${size}" viewBox="0 0 20 20" fill="none" stroke="currentColor" stroke-width="1.6" stroke-linecap="round" stroke-linejoin="round">${raw(paths)}</svg>`;

export const arrowLeft = icon('<path d="M16 10H4m0 0 5-5m-5 5 5 5"/>');
export const cardIcon = icon(
  '<rect x="2" y="4" width="16" height="12" rx="2.5"/><path d="M2 8h16M5.5 12.5h3"/>',
);
export const phoneIcon = icon('<rect x="5.5" y="2" width="9" height="16" rx="2.2"/><path d="M9 15h2"/>');
export const parcelIcon = icon(
  '<path d="m10 2.5 6.5 3.4v8.2L10 17.5l-6.5-3.4V5.9zM3.7 6 10 9.3 16.3 6M10 9.3v8M6.9 4.2l6.3 3.3"/>',
  32,
);
export const clockIcon = icon('<circle cx="10" cy="10" r="7.5"/><path d="M10 5.8V10l2.8 1.8"/>', 16);
export const checkIcon = icon('<path d="m4.5 10.5 3.7 3.7 7.3-8"/>', 32);
export const crossIcon = icon('<path d="m5.5 5.5 9 9m0-9-9 9"/>', 32);
export const clockLargeIcon = icon('<circle cx="10" cy="10" r="7.5"/><path d="M10 5.8V10l2.8 1.8"/>', 32);
export const alertIcon = icon('<circle cx="10" cy="10" r="7.5"/><path d="M10 6v4.7M10 13.7v.1"/>');
