// Runs one compiled snippet: `payments` and `sandbox` are there, and the environment leads to the sandbox.
import { pathToFileURL } from 'node:url';
import { PaymentsClient } from 'merchant-payments';
import { createSandbox } from 'merchant-payments/sandbox';

const sandbox = await createSandbox().listen();
process.env.PAYMENTS_BASE_URL = sandbox.url;
process.env.PAYMENTS_API_KEY = sandbox.apiKey;
process.env.PAYMENTS_WEBHOOK_SECRET = sandbox.webhookSecret;
Object.assign(globalThis, { sandbox, payments: new PaymentsClient() });

await import(pathToFileURL(process.argv[2]));
// A snippet may have started a server; it has shown that it runs.
process.exit(0);
