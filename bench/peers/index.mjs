// The clients that are compared. Each file gives one, or several under names: `stripe`, `floor:node-http`.
//
// A peer is a function of `{ baseUrl }` that returns its operations, each without an argument: `retrieve` and `create`
// resolve to an id, `list` to the number of items on one page (100), `iterate` to those on all pages (10,000).

import { pathToFileURL } from 'node:url';

/** Clients as their users install them; a client that lacks an operation leaves it out. */
export const clients = [
  'ours',
  'stripe',
  'openai',
  'polar',
  'paddle',
  'creem',
  'mollie',
  'lemonsqueezy',
  'resend',
];

/** No client at all: the least that a request costs, and what ky and fetch cost by themselves. */
export const floors = ['floor:node-http', 'floor:fetch', 'floor:ky'];

export async function loadPeer(name) {
  const [file, variant] = name.split(':');
  if (file === 'build') {
    const [{ peerOf }, build] = await Promise.all([
      import('./ours.mjs'),
      import(pathToFileURL(`${variant}/index.js`)),
    ]);
    return (settings) => peerOf(build, settings);
  }
  const { default: found } = await import(`./${file}.mjs`);
  const peer = variant === undefined ? found : found[variant];
  if (typeof peer !== 'function') throw new Error(`There is no peer ${name}.`);
  return peer;
}
