import { defineNitroConfig } from 'nitropack/config';

// As Nuxt 4 sets it: what is below server/ is found there.
export default defineNitroConfig({ srcDir: 'server', compatibilityDate: '2026-01-01' });
