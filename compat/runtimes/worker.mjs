// A worker without a file system and without listening sockets; the sandbox that it calls over HTTP runs outside.
import * as main from 'merchant-payments';
import { createSandbox } from 'merchant-payments/sandbox';
import * as webhooks from 'merchant-payments/webhooks';
import { runInProcess, shop } from './scenario.mjs';

export default {
  async test(_controller, { baseUrl, apiKey }) {
    await runInProcess({ main, webhooks, createSandbox });
    await shop(main, new main.PaymentsClient({ baseUrl, apiKey }));
  },
};
