const main = require('merchant-payments');
const { createSandbox } = require('merchant-payments/sandbox');
const webhooks = require('merchant-payments/webhooks');

import('./scenario.mjs').then(async ({ runInProcess, runOverHttp }) => {
  await runInProcess({ main, webhooks, createSandbox });
  await runOverHttp({ main, createSandbox });
});
