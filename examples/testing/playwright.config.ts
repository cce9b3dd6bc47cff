import { defineConfig } from '@playwright/test';

const { PORT = '3000', CHROMIUM_PATH } = process.env;
const shopUrl = `http://127.0.0.1:${PORT}`;

export default defineConfig({
  testMatch: 'playwright.spec.ts',
  use: {
    baseURL: shopUrl,
    // A browser of your own; without one, `npx playwright install chromium` fetches Playwright's.
    launchOptions: CHROMIUM_PATH ? { executablePath: CHROMIUM_PATH } : {},
  },
  // The sandbox, the shop and its webhooks.
  webServer: { command: 'npm start', cwd: '..', url: shopUrl, reuseExistingServer: true },
});
