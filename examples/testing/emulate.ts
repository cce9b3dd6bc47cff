// The sandbox as a service of emulate, beside the services that emulate has: npm install --save-dev emulate@0.12
//
// npx emulate start, with this emulate.config.ts:
//   import { defineConfig } from 'emulate';
//   import { payments } from './emulate.ts';
//   export default defineConfig({ services: { payments: { emulator: payments }, github: { emulator: 'github' } } });
import { defineEmulator } from 'emulate';
import { createSandbox, type SandboxSnapshot } from 'merchant-payments/sandbox';

/** All data of the sandbox after the last request: what emulate's inspector, snapshots and files hold. */
interface State {
  sandbox?: SandboxSnapshot;
}

export const payments = defineEmulator<State>({
  name: 'merchant-payments',
  state: () => ({}),
  setup(context) {
    const { app, state, baseUrl } = context;
    const { sandbox: from } = state;
    const sandbox = createSandbox({
      apiKey: 'service_test_emulate',
      webhookSecret: 'whsec_emulate',
      webhook: process.env.PAYMENTS_WEBHOOK_URL, // the address of your receiver
      publicUrl: baseUrl, // so that payment pages open under emulate's address
      ...(from && { from }),
    });
    context.onDispose(() => sandbox.close());
    app.use(async ({ req }) => {
      const { pathname, search } = new URL(req.url);
      const response = await sandbox.fetch(new Request(sandbox.url + pathname + search, req.raw));
      state.sandbox = sandbox.snapshot();
      return response;
    });
  },
});
