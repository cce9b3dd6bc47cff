// Checked by the compiler alone, as part of `npm test`: what a caller's editor may rely on.

import {
  type AnyPaymentsError,
  type ApiError,
  type ApiPromise,
  AuthenticationError,
  type Balance,
  type CallOptions,
  type CheckoutSession,
  ConnectionError,
  type CreatedCheckout,
  type CurrencyCode,
  type Hooks,
  InvalidParamsError,
  InvalidResponseError,
  type Issue,
  isPaymentsError,
  type ListPromise,
  type OrderPaidEvent,
  type Outcome,
  type Page,
  type PaymentsApi,
  PaymentsClient,
  type PaymentsClientOptions,
  PaymentsError,
  type Product,
  type ProductStatus,
  RateLimitError,
  type ResponseFacts,
  TimeoutError,
  type UpdatedProduct,
} from 'merchant-payments';
import { SandboxError, type SandboxErrorCode } from 'merchant-payments/sandbox';
import { expectTypeOf, test } from 'vitest';
import type * as z from 'zod/mini';
import type { balanceSchema } from '../../src/schemas/balance.js';
import type { checkoutSchemas } from '../../src/schemas/checkout.js';
import type { paginationSchema } from '../../src/schemas/pagination.js';
import type {
  CheckoutCreateParams,
  checkoutCreateParams,
  NewProduct,
  ProductCreateParams,
  ProductListParams,
  ProductUpdateParams,
  productCreateParams,
  productListParams,
  productUpdateParams,
} from '../../src/schemas/params.js';
import type { productListSchema, productSchema, updatedProductSchema } from '../../src/schemas/product.js';

const payments = new PaymentsClient();

/** An open record's listed fields: a loose schema adds an index for the unlisted ones. */
type Listed<T> = { [Name in keyof T as string extends Name ? never : Name]: T[Name] };
type Output<Schema extends z.core.$ZodType> = Listed<z.output<Schema>>;

test('switching over the code of a SandboxError, a misspelt case does not compile', () => {
  const error: unknown = undefined;
  if (!(error instanceof SandboxError)) return;
  expectTypeOf(error.code).toEqualTypeOf<SandboxErrorCode>();
  // @ts-expect-error: a code of the client
  if (error.code === 'not_found') throw error;
});

test('each schema gives its interface, field by field', () => {
  expectTypeOf<Output<typeof productSchema>>().branded.toEqualTypeOf<Product>();
  expectTypeOf<Output<typeof updatedProductSchema>>().branded.toEqualTypeOf<UpdatedProduct>();
  expectTypeOf<Output<typeof balanceSchema>>().branded.toEqualTypeOf<Balance>();
  expectTypeOf<Output<typeof paginationSchema>>().toEqualTypeOf<Page<Product>['pagination']>();
  expectTypeOf<
    Output<ReturnType<typeof checkoutSchemas>['session']>
  >().branded.toEqualTypeOf<CheckoutSession>();
  expectTypeOf<
    Output<ReturnType<typeof checkoutSchemas>['created']>
  >().branded.toEqualTypeOf<CreatedCheckout>();
  expectTypeOf<keyof Output<typeof productListSchema>>().toEqualTypeOf<'items' | 'pagination'>();

  // A value that may be passed in several forms, such as a URL, is sent in one.
  expectTypeOf<z.output<typeof productCreateParams>>().toExtend<ProductCreateParams>();
  expectTypeOf<z.output<typeof productUpdateParams>>().toExtend<ProductUpdateParams>();
  expectTypeOf<z.output<typeof productListParams>>().branded.toEqualTypeOf<ProductListParams>();
  expectTypeOf<z.output<typeof checkoutCreateParams>>().toExtend<CheckoutCreateParams>();
  expectTypeOf<z.output<typeof productCreateParams>>().toExtend<NewProduct>();
  expectTypeOf<keyof z.output<typeof productCreateParams>>().toEqualTypeOf<keyof ProductCreateParams>();
  expectTypeOf<keyof z.output<typeof productUpdateParams>>().toEqualTypeOf<keyof ProductUpdateParams>();
  expectTypeOf<keyof z.output<typeof checkoutCreateParams>>().toEqualTypeOf<keyof CheckoutCreateParams>();
});

test('each method returns an ApiPromise of its resource', () => {
  expectTypeOf(payments.products.create).returns.toEqualTypeOf<ApiPromise<Product>>();
  expectTypeOf(payments.products.update).returns.toEqualTypeOf<ApiPromise<UpdatedProduct>>();
  expectTypeOf(payments.products.list).returns.toEqualTypeOf<ListPromise<Product>>();
  expectTypeOf(payments.checkouts.create).returns.toEqualTypeOf<ApiPromise<CreatedCheckout>>();
  expectTypeOf(payments.checkouts.retrieve).returns.toEqualTypeOf<ApiPromise<CheckoutSession>>();
  expectTypeOf(payments.balance.retrieve).returns.toEqualTypeOf<ApiPromise<Balance>>();
  const order = { method: 'GET', path: '/v1/orders/ord_1' } as const;
  expectTypeOf(() => payments.request(order)).returns.toEqualTypeOf<ApiPromise<unknown>>();
  expectTypeOf(() => payments.request<{ id: string }>(order)).returns.toEqualTypeOf<
    ApiPromise<{ id: string }>
  >();
  expectTypeOf<Awaited<ListPromise<Product>>>().toEqualTypeOf<Page<Product>>();
  expectTypeOf<Awaited<ReturnType<Page<Product>['nextPage']>>>().toEqualTypeOf<Page<Product> | null>();
  expectTypeOf<Awaited<ReturnType<ApiPromise<Balance>['withResponse']>>>().toEqualTypeOf<{
    data: Balance;
    response: ResponseFacts;
  }>();
  expectTypeOf<ListPromise<Product>>().toExtend<AsyncIterable<Product>>();
});

test('a client fulfils the interface, and a fake of one method is one line', () => {
  expectTypeOf<PaymentsClient>().toExtend<PaymentsApi>();
  const api: PaymentsApi = payments;
  api.checkouts.create = async () => ({ url: 'https://pay.example/1' });
  // @ts-expect-error a fake without a url is no checkout
  api.checkouts.create = async () => ({});
});

test('enums complete, and stay open', () => {
  expectTypeOf<'ACTIVE'>().toExtend<ProductStatus>();
  expectTypeOf<'DRAFT'>().toExtend<ProductStatus>();
  expectTypeOf<'EUR'>().toExtend<CurrencyCode>();
  expectTypeOf<'XTS'>().toExtend<CurrencyCode>();
  expectTypeOf<5>().not.toExtend<CurrencyCode>();
});

test('absent fields are null or optional as documented', () => {
  expectTypeOf<Product['image']>().toEqualTypeOf<string | null>();
  expectTypeOf<Product['description']>().toEqualTypeOf<string | null>();
  expectTypeOf<UpdatedProduct['status']>().toEqualTypeOf<ProductStatus | undefined>();
  expectTypeOf<CreatedCheckout['url']>().toEqualTypeOf<string>();
  expectTypeOf<CreatedCheckout['id']>().toEqualTypeOf<string | undefined>();
  expectTypeOf<CheckoutSession['expiresAt']>().toEqualTypeOf<Date>();
});

test('an error narrows to its facts', () => {
  const error: unknown = new Error();
  if (!(error instanceof PaymentsError)) return;
  expectTypeOf(error).toEqualTypeOf<AnyPaymentsError>();
  expectTypeOf(error.outcome).toEqualTypeOf<Outcome | undefined>();
  if (error instanceof AuthenticationError) {
    expectTypeOf(error).toExtend<ApiError>();
    expectTypeOf(error.status).toEqualTypeOf<number>();
    expectTypeOf(error.outcome).toEqualTypeOf<Outcome>();
  } else if (error instanceof RateLimitError)
    expectTypeOf(error.retryAfterMs).toEqualTypeOf<number | undefined>();
  else if (error instanceof InvalidParamsError) {
    expectTypeOf(error.issues).toEqualTypeOf<readonly Issue[]>();
    expectTypeOf(error.outcome).toEqualTypeOf<'not_sent'>();
  } else if (error instanceof TimeoutError) expectTypeOf(error.scope).toEqualTypeOf<'attempt' | 'total'>();
  else if (error instanceof ConnectionError) {
    expectTypeOf(error.phase).toEqualTypeOf<'connect' | 'exchange' | 'body'>();
  } else if (error instanceof InvalidResponseError)
    expectTypeOf(error.id).toEqualTypeOf<string | undefined>();
});

test('the code of an error narrows it to its facts', () => {
  const error: unknown = new Error();
  if (!isPaymentsError(error)) return;
  switch (error.code) {
    case 'invalid_params':
      expectTypeOf(error.issues).toEqualTypeOf<readonly Issue[]>();
      break;
    case 'connection_error':
      expectTypeOf(error.phase).toEqualTypeOf<'connect' | 'exchange' | 'body'>();
      break;
    case 'timeout':
      expectTypeOf(error.scope).toEqualTypeOf<'attempt' | 'total'>();
      break;
    case 'authentication_error':
    case 'rate_limited':
      expectTypeOf(error.status).toEqualTypeOf<number>();
      expectTypeOf(error.retryAfterMs).toEqualTypeOf<number | undefined>();
      expectTypeOf(error.requestId).toEqualTypeOf<string | undefined>();
      expectTypeOf(error.apiCode).toEqualTypeOf<number | string | undefined>();
      break;
    case 'invalid_response':
      expectTypeOf(error.id).toEqualTypeOf<string | undefined>();
      expectTypeOf(error.requestId).toEqualTypeOf<string | undefined>();
      break;
    case 'signature_mismatch':
    case 'timestamp_too_old':
      expectTypeOf(error.httpStatus).toEqualTypeOf<400>();
      expectTypeOf(error.skewSeconds).toEqualTypeOf<number | undefined>();
      break;
    case 'invalid_secret':
      expectTypeOf(error.httpStatus).toEqualTypeOf<500>();
      break;
    // @ts-expect-error a misspelt code does not compile
    case 'rate_limit':
      break;
  }
  const caught: PaymentsError = error;
  // @ts-expect-error nor does it on the base class
  expectTypeOf(caught.code === 'rate_limit').toBeBoolean();
  expectTypeOf(error.toJSON().message).toEqualTypeOf<string>();
});

test('a URL may be an object wherever a URL is taken, and image and description of a new product null', () => {
  const url = new URL('https://shop.example');
  expectTypeOf<{ name: string; price: string; image: URL }>().toExtend<ProductCreateParams>();
  expectTypeOf<{
    name: string;
    price: string;
    image: null;
    description: null;
  }>().toExtend<ProductCreateParams>();
  expectTypeOf<{ image: null }>().not.toExtend<ProductUpdateParams>();
  expectTypeOf({ productId: 'p', successUrl: url, cancelUrl: url }).toExtend<CheckoutCreateParams>();
  expectTypeOf({ baseUrl: url }).toExtend<PaymentsClientOptions>();
});

test('an undocumented field of an event is unknown, and has to be looked for', () => {
  const linkOf = ({ data }: OrderPaidEvent) => ('checkout_id' in data ? data.checkout_id : null);
  expectTypeOf(linkOf).returns.toBeUnknown();
  // @ts-expect-error the event says order_id
  expectTypeOf(({ data }: OrderPaidEvent) => data.orderId).toBeFunction();
});

test('hooks see the error of a call with its facts', () => {
  const hooks: Hooks = {
    error: ({ error }) => {
      expectTypeOf(error.outcome).toEqualTypeOf<Outcome | undefined>();
      if (error.code === 'rate_limited') expectTypeOf(error.retryAfterMs).toEqualTypeOf<number | undefined>();
    },
    retry: ({ error }: { error: PaymentsError }) => error.outcome,
    end: ({ ok }) => expectTypeOf(ok).toBeBoolean(),
  };
  expectTypeOf(hooks).toExtend<Hooks>();
});

test('wrong use does not compile', () => {
  const wrong = () => {
    // @ts-expect-error a price is text: "19.90"
    payments.products.create({ name: 'Mug', price: 19.9 });
    // @ts-expect-error a product needs a price
    payments.products.create({ name: 'Mug' });
    // @ts-expect-error an unknown field
    payments.products.create({ name: 'Mug', price: '5', quantity: 1 });
    // @ts-expect-error metadata values are text
    payments.products.create({ name: 'Mug', price: '5', metadata: { sku: 1 } });
    // @ts-expect-error a checkout needs a product
    payments.checkouts.create({ successUrl: 'https://shop.example' });
    // @ts-expect-error only the two documented statuses can be asked for
    payments.products.list({ status: 'DRAFT' });
    // @ts-expect-error the limit of toArray() is required
    payments.products.list().toArray();
    // @ts-expect-error an id is text
    payments.checkouts.retrieve(5);
    // @ts-expect-error the created checkout's id may be absent
    payments.checkouts.create({ productId: 'p' }).then(({ id }) => payments.checkouts.retrieve(id));
    // @ts-expect-error prefetch is an option of lists
    payments.balance.retrieve({ prefetch: 2 });
    // @ts-expect-error a key is text
    new PaymentsClient({ apiKey: 5 });
    // @ts-expect-error an unknown option
    new PaymentsClient({ apikey: 'x' });
    // @ts-expect-error HEAD has no JSON
    payments.request({ method: 'HEAD', path: '/v1/x' });
    // @ts-expect-error the data of request() is unknown
    payments.request({ method: 'GET', path: '/v1/x' }).then((data) => data.id);
    // @ts-expect-error facts are read-only
    new InvalidParamsError({ operation: 'x' }, []).issues = [];
  };
  expectTypeOf(wrong).toBeFunction();
  expectTypeOf<{ timeoutMs: undefined; signal: undefined }>().toExtend<CallOptions>();
});
