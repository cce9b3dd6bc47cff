import * as main from 'merchant-payments';
import { createSandbox } from 'merchant-payments/sandbox';
import * as webhooks from 'merchant-payments/webhooks';
import { inProcess, overHttp } from './scenario.mjs';

await inProcess({ main, webhooks, createSandbox });
await overHttp({ main, createSandbox });
