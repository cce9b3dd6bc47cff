// Two copies of the package in one process: what one throws, the other knows.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import * as esm from 'merchant-payments';

const cjs = createRequire(import.meta.url)('merchant-payments');
assert.notEqual(esm.PaymentsError, cjs.PaymentsError);
for (const [ours, theirs] of [
  [esm, cjs],
  [cjs, esm],
]) {
  let thrown;
  try {
    new ours.PaymentsClient({ apiKey: 'k', baseUrl: 'ftp://shop.example' });
  } catch (error) {
    thrown = error;
  }
  assert.ok(thrown instanceof theirs.ConfigurationError);
  assert.ok(thrown instanceof theirs.PaymentsError);
  assert.ok(!(thrown instanceof theirs.ApiError));
  assert.ok(theirs.isPaymentsError(thrown));
}
