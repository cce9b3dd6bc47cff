import * as main from 'merchant-payments';
import { createSandbox } from 'merchant-payments/sandbox';
import * as webhooks from 'merchant-payments/webhooks';
import { runInProcess, runOverHttp } from './scenario.mjs';

await runInProcess({ main, webhooks, createSandbox });
await runOverHttp({ main, createSandbox });
