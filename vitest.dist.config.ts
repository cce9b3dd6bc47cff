import { fileURLToPath } from 'node:url';
import base from './vitest.config.js';

const built = (name: string) => fileURLToPath(new URL(`./dist/${name}.js`, import.meta.url));

/** The tests of the client, of faults and of promises, against the package as it is published: `npm run test:dist`. */
export default {
  ...base,
  resolve: {
    alias: [
      { find: /^merchant-payments$/, replacement: built('index') },
      { find: /^merchant-payments\/(webhooks|sandbox|inbox|matching)$/, replacement: built('$1') },
    ],
  },
  test: {
    ...base.test,
    include: ['test/client/**/*.test.ts', 'test/faults/**/*.test.ts', 'test/promises/**/*.test.ts'],
    exclude: ['test/promises/regular-expressions.test.ts'], // reads the source
    env: { TEST_DIST: '1' },
  },
};
