import { defineConfig } from '@playwright/test';

const { PORT, CHROMIUM_PATH } = process.env;
if (!PORT)
  throw new Error('Run Playwright inside exec, which sets PORT: playwright.spec.ts has the command.');
const runsTypeScript = 'typescript' in process.features && process.features.typescript;
const node = runsTypeScript ? 'node' : 'node --import tsx';

export default defineConfig({
  testMatch: 'playwright.spec.ts',
  use: {
    baseURL: `http://127.0.0.1:${PORT}`,
    // A browser of your own; without one, `npx playwright install chromium` fetches Playwright's.
    launchOptions: CHROMIUM_PATH ? { executablePath: CHROMIUM_PATH } : {},
  },
  // The shop. The sandbox that it talks to is that of exec.
  webServer: {
    command: `${node} shop/server.ts`,
    cwd: '..',
    port: Number(PORT),
    env: { ORDERS_KEY: 'key-of-the-tests' },
  },
});
