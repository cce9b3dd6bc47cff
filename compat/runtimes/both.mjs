// Two copies of the client in one process: what one throws, the other knows. Of the sandbox there is one.
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import * as esm from 'merchant-payments';
import * as sandbox from 'merchant-payments/sandbox';

const require = createRequire(import.meta.url);
const cjs = require('merchant-payments');
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
assert.deepEqual({ ...require('merchant-payments/sandbox') }, { ...sandbox });
