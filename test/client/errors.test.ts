import { inspect } from 'node:util';
import * as errors from 'merchant-payments';
import { expect, test, vi } from 'vitest';

const call = {
  outcome: 'rejected',
  operation: 'products.create',
  method: 'POST',
  path: '/v1/products',
  attempts: 1,
} as const;
const refused = { ...call, status: 400, headers: new Headers() };

// One of each class, of whichever copy of the package.
const oneOfEach = (of: typeof errors) =>
  Object.entries({
    ConfigurationError: new of.ConfigurationError('x'),
    InvalidParamsError: new of.InvalidParamsError(call, []),
    ConnectionError: new of.ConnectionError('x', { ...call, phase: 'connect', reason: 'ENOTFOUND' }),
    TimeoutError: new of.TimeoutError('x', { ...call, phase: 'connect', scope: 'attempt' }),
    ApiError: new of.ApiError('x', refused),
    AuthenticationError: new of.AuthenticationError('x', refused),
    PermissionDeniedError: new of.PermissionDeniedError('x', refused),
    NotFoundError: new of.NotFoundError('x', refused),
    ConflictError: new of.ConflictError('x', refused),
    InvalidRequestError: new of.InvalidRequestError('x', refused),
    RateLimitError: new of.RateLimitError('x', refused),
    ServerError: new of.ServerError('x', refused),
    InvalidResponseError: new of.InvalidResponseError('x', { ...refused, reason: 'json', issues: [] }),
    WebhookConfigError: new of.WebhookConfigError('x', 'invalid_secret'),
    WebhookVerificationError: new of.WebhookVerificationError('x', 'signature_mismatch'),
    WebhookPayloadError: new of.WebhookPayloadError('x', 'invalid_json'),
  });

/** The classes of which an error is an instance, by this copy. */
function classesOf(error: unknown): string[] {
  return Object.entries(errors)
    .filter(([, type]) => isErrorClass(type) && error instanceof type)
    .map(([name]) => name)
    .toSorted();
}

function isErrorClass(type: unknown): type is typeof errors.PaymentsError {
  return typeof type === 'function' && (type === errors.PaymentsError || type.prototype instanceof Error);
}

const parents: Record<string, string[]> = { TimeoutError: ['ConnectionError'] };
for (const name of [
  'Authentication',
  'PermissionDenied',
  'NotFound',
  'Conflict',
  'InvalidRequest',
  'RateLimit',
  'Server',
]) {
  parents[`${name}Error`] = ['ApiError'];
}

vi.resetModules();
const otherCopy = await import('merchant-payments');

test('the other copy of the package has classes of its own', () => {
  expect(otherCopy.PaymentsError).not.toBe(errors.PaymentsError);
});

test.each([...oneOfEach(errors), ...oneOfEach(otherCopy)])(
  '%s is what its name says, in any copy of the package',
  (name, error) => {
    expect(error.name).toBe(name);
    expect(error.constructor.name).toBe(name);
    expect(error).toBeInstanceOf(Error);
    expect(errors.isPaymentsError(error)).toBe(true);
    expect(classesOf(error)).toEqual(['PaymentsError', name, ...(parents[name] ?? [])].toSorted());
    expect(String(error)).toMatch(new RegExp(`^${name}: `));
    expect(error.stack).toMatch(new RegExp(`^${name}: `));
  },
);

test.each([
  null,
  undefined,
  'PaymentsError',
  {},
  new Error('x'),
  new TypeError('x'),
  { name: 'PaymentsError' },
])('%o is no error of the package', (value) => {
  expect(errors.isPaymentsError(value)).toBe(false);
  expect(classesOf(value)).toEqual([]);
});

test('an object that only has the fields of an error of the package is none, and the check does not throw', () => {
  const posing: unknown = Object.create({
    [Symbol.for('merchant-payments.error')]: true,
    constructor: undefined,
  });
  expect(errors.isPaymentsError(posing)).toBe(false);
  expect(classesOf(posing)).toEqual([]);
});

test('a class that extends one of ours is distinguished from its parent', () => {
  class ShopError extends errors.ApiError {}
  const own = new ShopError('x', refused);
  expect(own.name).toBe('ShopError');
  expect(own).toBeInstanceOf(ShopError);
  expect(own).toBeInstanceOf(errors.ApiError);
  expect(new errors.ApiError('x', refused)).not.toBeInstanceOf(ShopError);
});

test('toJSON() has name, message and the facts; absent ones are left out', () => {
  const error = new errors.NotFoundError('Nothing there.', refused);
  const { outcome, operation, method, path, attempts } = call;
  const facts = { outcome, operation, method, path, attempts, status: 400, code: 'not_found' };
  expect(error.toJSON()).toEqual({ name: 'NotFoundError', message: 'Nothing there.', ...facts });
  expect(JSON.parse(JSON.stringify({ error })).error).toEqual(error.toJSON());
});

test('the name can be set, as that of any error', () => {
  const error = new errors.NotFoundError('x', refused);
  error.name = 'ShopError';
  expect(error.name).toBe('ShopError');
  expect(String(error)).toBe('ShopError: x');
  expect(error.toJSON()).toMatchObject({ name: 'ShopError' });
  expect(error).toBeInstanceOf(errors.NotFoundError);
  expect(new errors.NotFoundError('x', refused).name).toBe('NotFoundError');
});

test.each(
  Object.entries({
    ConfigurationError: 'configuration_error',
    InvalidParamsError: 'invalid_params',
    ConnectionError: 'connection_error',
    TimeoutError: 'timeout',
    ApiError: 'api_error',
    AuthenticationError: 'authentication_error',
    PermissionDeniedError: 'permission_denied',
    NotFoundError: 'not_found',
    ConflictError: 'conflict',
    InvalidRequestError: 'invalid_request',
    RateLimitError: 'rate_limited',
    ServerError: 'server_error',
    InvalidResponseError: 'invalid_response',
  }),
)('the code of %s is %s, which Node prints', (name, code) => {
  const error = new Map<string, errors.PaymentsError>(oneOfEach(errors)).get(name);
  expect(error?.code).toBe(code);
  expect(inspect(error)).toContain(`code: '${code}'`);
});
