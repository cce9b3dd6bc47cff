import { defineConfig } from '@playwright/test';

const { CHROMIUM_PATH } = process.env;

export default defineConfig({
  testMatch: 'playwright.spec.ts',
  use: {
    baseURL: 'http://127.0.0.1:3000',
    // A browser of your own; without one, `npx playwright install chromium` fetches Playwright's.
    launchOptions: CHROMIUM_PATH ? { executablePath: CHROMIUM_PATH } : {},
  },
  // The sandbox, the shop and its webhooks.
  webServer: { command: 'npm start', cwd: '..', url: 'http://127.0.0.1:3000', reuseExistingServer: true },
});
