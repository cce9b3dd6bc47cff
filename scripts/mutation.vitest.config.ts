import { defineConfig } from 'vitest/config';
import base from '../vitest.config.js';

const { resolve } = base({ command: 'serve', mode: 'test' });
const parts = new URL('mutation-parts.mjs', import.meta.url);
const { part }: { part: { tests: string[]; testTimeout?: number } } = await import(parts.href);

/** The tests that Stryker runs against each mutant: without the fuzz, which would notice some by chance. */
export default defineConfig({
  ...(resolve && { resolve }),
  test: {
    include: part.tests,
    testTimeout: part.testTimeout ?? 20_000,
    restoreMocks: true,
    unstubEnvs: true,
    unstubGlobals: true,
  },
});
