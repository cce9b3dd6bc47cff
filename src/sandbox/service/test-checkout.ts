import { describeIssues } from '../../schemas/issues.js';
import { productCreateParams } from '../../schemas/params.js';
import { SandboxError } from '../sandbox-error.js';
import { twoDecimals } from './cents.js';
import type { StoredCheckout } from './checkout.js';
import type { Payments } from './payments.js';

/** A real product and checkout for `trigger`, so that what a handler then reads back exists. */
export function testCheckout(
  payments: Payments,
  { amount = '19.90', currency }: { amount?: string | undefined; currency?: string | undefined },
): StoredCheckout {
  const result = productCreateParams.safeParse({ name: 'Test payment', price: amount, currency });
  if (!result.success) {
    const [problem] = describeIssues(result.error.issues);
    const field = problem?.path === 'price' ? 'amount' : problem?.path;
    throw new SandboxError('invalid_options', `trigger: ${field} ${problem?.message}`);
  }
  const product = payments.createProduct(result.data);
  return payments.createCheckout({
    productId: product.id,
    amount: twoDecimals(product.price),
    currency: product.currency,
  });
}
