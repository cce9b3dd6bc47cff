import { fileURLToPath } from 'node:url';
import { mergeConfig } from 'vitest/config';
import base from '../../../vitest.config.js';

const file = (name: string) => fileURLToPath(new URL(name, import.meta.url));
const standIns: Record<string, RegExp> = { ky: /^ky$/, zod: /^zod\/mini$/ };
const library = process.env.STAND_IN ?? '';

/** The tests of the endpoints, with a stand-in for one library. */
export default {
  ...mergeConfig(base({ command: 'serve', mode: 'test' }), {
    root: file('../../..'),
    resolve: { alias: [{ find: standIns[library], replacement: file(`${library}.ts`) }] },
  }),
};
