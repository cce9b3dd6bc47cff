import { newParts, type SandboxContext } from './context.js';
import { sandboxApp } from './http/app.js';
import { localSandbox } from './local-sandbox.js';
import type { Sandbox } from './sandbox.js';
import type { SandboxOptions } from './settings.js';

/**
 * Starts a sandbox: an emulation of the whole API in this process, without a socket or a timer.
 *
 * @example
 * ```ts
 * import { PaymentsClient } from 'merchant-payments';
 * import { createSandbox } from 'merchant-payments/sandbox';
 *
 * const sandbox = createSandbox();
 * const client = new PaymentsClient(sandbox.clientOptions);
 * const product = await client.products.create({ name: 'Mug', price: '19.90' });
 * const { url } = await client.checkouts.create({ productId: product.id });
 * const { order } = await sandbox.completeCheckout(url);
 * console.log(order.amount);
 * ```
 */
export function createSandbox(options: SandboxOptions = {}): Sandbox {
  return openSandbox(options).sandbox;
}

/** The same for the command, which watches and saves what happens inside. */
export function openSandbox(options: SandboxOptions): SandboxContext {
  const parts = newParts(options, (request) => app(request));
  const context = { ...parts, sandbox: localSandbox(parts) };
  const app = sandboxApp(context);
  return context;
}
