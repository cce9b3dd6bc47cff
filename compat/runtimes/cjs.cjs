const main = require('merchant-payments');
const { createSandbox } = require('merchant-payments/sandbox');
const webhooks = require('merchant-payments/webhooks');

import('./scenario.mjs').then(async ({ inProcess, overHttp }) => {
  await inProcess({ main, webhooks, createSandbox });
  await overHttp({ main, createSandbox });
});
