import { redactor } from '../../src/input/redact.js';
import type { CallDescription } from '../../src/transport/to-error.js';

export const key = 'service_test_secret-of-the-shop';

const description = { attempts: 2, host: 'api.example', redact: redactor([key]) };

/** A read at its second attempt. */
export const read: CallDescription = {
  ...description,
  operation: 'balance.retrieve',
  method: 'GET',
  path: '/v1/balance',
  recoveryHint: '',
};

/** A write at its second attempt. */
export const write: CallDescription = {
  ...description,
  operation: 'products.create',
  method: 'POST',
  path: '/v1/products',
  recoveryHint: 'Look for it.',
};

/** The facts of both, which every error carries. */
export const factsOf = ({ operation, method, path, attempts }: CallDescription) => ({
  operation,
  method,
  path,
  attempts,
});
