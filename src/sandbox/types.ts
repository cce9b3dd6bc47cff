import type { WebhookTarget } from '../doctor/delivery.js';
import type { Diagnosis, DoctorOptions } from '../doctor/diagnosis.js';
import type { Balance } from '../schemas/balance.js';
import type { Product } from '../schemas/product.js';
import type { PageMessages } from './pages/payment/messages.js';
import type { Duration } from './service/duration.js';
import type { UnspecifiedChoices } from './service/unspecified.js';

export type { Balance, Duration, PageMessages, Product, UnspecifiedChoices, WebhookTarget };

/** Options of `createSandbox()`. All have a default that suits a test. */
export interface SandboxOptions {
  /** Default: `service_test_` and random characters. */
  apiKey?: string | undefined;
  /** Default: random. */
  webhookSecret?: string | undefined;
  /** Where webhooks go. Default: nowhere; events are kept and can be delivered later. */
  webhook?: WebhookTarget | undefined;
  /**
   * When the first attempt is made: `'auto'` at once (default), `'manual'` when `deliver()` is called, or after a
   * delay on the sandbox's clock.
   */
  webhooks?:
    | 'auto'
    | 'manual'
    | {
        /** On the sandbox's clock. */
        delay: Duration;
      }
    | undefined;
  /** Makes ids repeat from run to run. Default: random, so that they never meet ids in a merchant's own database. */
  seed?: number | undefined;
  /** Where the clock starts. A `Date` freezes it: only `advanceTime` and `setTime` move it. Default `'real'`. */
  now?: Date | 'real' | undefined;
  /** Currency of the balance. Default `'USD'`. */
  currency?: string | undefined;
  /** Origin of payment page URLs, where the browser knows the sandbox by another address. Default: `url`. */
  publicUrl?: string | undefined;
  /** Answers to what the specification leaves open. */
  unspecified?: Partial<UnspecifiedChoices> | undefined;
  /** Shown on the payment page where a checkout has no `displayMerchantName`. Default `'Sandbox shop'`. */
  merchantName?: string | undefined;
  /** Other texts for the payment page, such as those of another language. Default: English. */
  messages?: Partial<PageMessages> | undefined;
  /** Restores what `snapshot()` gave. Options given beside it win. */
  from?: SandboxSnapshot | undefined;
  /** For code that insists on the live prefix: the key then begins with it, and only that one key is taken. */
  acceptPrefix?: 'service_live_' | undefined;
  /** The clock in signatures. Default `'real'`, so that a moved clock fails no receiver's tolerance check. */
  signatureTime?: 'real' | 'virtual' | undefined;
  /**
   * How event bodies are encoded. Default `'spaced'`: a space after `:` and `,`, so that a receiver which parses
   * and re-encodes the body before verifying it fails here and not in production.
   */
  encoding?: 'spaced' | 'compact' | undefined;
  /**
   * Lets webhooks go to public addresses too. Default `false`: this machine and private networks only. Link-local
   * addresses are never called.
   */
  allowRemoteWebhooks?: boolean | undefined;
}

/** Options of `sandbox.listen()`. */
export interface ListenOptions {
  /** Default: a free one. */
  port?: number | undefined;
  /** Default `'127.0.0.1'`: this machine alone. */
  host?: string | undefined;
  /** Names by which pages and control routes may be called beside loopback names and `publicUrl`. Default: none. */
  allowHosts?: readonly string[] | undefined;
  /** What dashboard and control routes ask for where other machines can reach the sandbox. Default: random. */
  accessToken?: string | undefined;
}

/** What the customer pays with. */
export type PaymentMethod = 'card' | 'walletA' | 'walletB';

/** Why a payment failed. */
export type DeclineReason = 'card_declined' | 'insufficient_funds' | 'wallet_declined';

/** `processing` while a wallet waits for approval. Spec: "States of checkout sessions: not shown". */
export type CheckoutState = 'open' | 'processing' | 'paid' | 'cancelled' | 'expired';

/** A checkout session as the sandbox knows it: more than the API shows. */
export interface SandboxCheckout {
  /** What `checkouts.retrieve()` and `completeCheckout()` take. */
  id: string;
  /** The product that is sold. */
  productId: string;
  /** Decimal text with two decimals. */
  amount: string;
  /** Of `amount`. */
  currency: string;
  /** The payment page. */
  url: string;
  /** Where it stands. */
  state: CheckoutState;
  /** Where the customer goes after paying. */
  successUrl: string | undefined;
  /** Where the customer goes after giving up. */
  cancelUrl: string | undefined;
  /** Shown on the payment page. */
  displayMerchantName: string | undefined;
  /** The wallet that waits for approval, or what paid. */
  method: PaymentMethod | undefined;
  /** Why the last attempt to pay failed. */
  declined: DeclineReason | undefined;
  /** The order, once it is paid. */
  orderId: string | undefined;
  /** On the sandbox's clock. */
  createdAt: Date;
  /** From when on it can no longer be paid. */
  expiresAt: Date;
}

/** A paid order. The service shows orders in the webhook event alone. */
export interface SandboxOrder {
  /** The event's `order_id`. */
  id: string;
  /** The checkout that was paid. */
  checkoutId: string;
  /** The product that was sold. */
  productId: string;
  /** Decimal text with two decimals. */
  amount: string;
  /** Of `amount`. */
  currency: string;
  /** What the customer paid with. */
  method: PaymentMethod;
  /** On the sandbox's clock. */
  paidAt: Date;
  /** What the balance gained; `undefined` where the currency is not the balance's. */
  credited: string | undefined;
  /** Whether it has moved from `pending` to `available`. */
  settled: boolean;
}

/**
 * - `pending`: the first attempt is due or under way
 * - `held`: waits for `deliver()`
 * - `no_url`: no webhook is set; kept, and can be delivered later
 * - `retrying`: an attempt failed, another is due
 * - `delivered`, `failed`: over; `redeliver()` sends it again
 */
export type EventState = 'pending' | 'held' | 'no_url' | 'retrying' | 'delivered' | 'failed';

/** A webhook event and what became of it. */
export interface SandboxEvent {
  /** The sandbox's own name for it. It is not in the body: the service's events have no id. */
  id: string;
  /** The one type that the specification shows. */
  type: 'order.paid';
  /** The event's `data`: ids and amounts as on the wire. */
  data: {
    /** The order's id. */
    order_id: string;
    /** Decimal text with two decimals. */
    amount: string;
    /** Of `amount`. */
    currency: string;
  };
  /** The exact text that is sent, the same in every attempt. */
  body: string;
  /** What became of it. */
  state: EventState;
  /** Oldest first. */
  attempts: Attempt[];
  /** When it is tried again, on the sandbox's clock. */
  nextAttemptAt: Date | undefined;
  /** On the sandbox's clock. */
  createdAt: Date;
}

/** One attempt to deliver an event. */
export interface Attempt {
  /** Counts from 1. */
  number: number;
  /** Whether the answer was 2xx. */
  ok: boolean;
  /** On the sandbox's clock. */
  at: Date;
  /** From sending to the end of the answer, in real milliseconds. */
  durationMs: number;
  /** Where it was sent; `(handler)` for a function. */
  target: string;
  /** What was sent, signature and timestamp included. */
  requestHeaders: Record<string, string>;
  /** The status of the answer; absent where none came. */
  status?: number | undefined;
  /** The headers of the answer. */
  responseHeaders?: Record<string, string> | undefined;
  /** The first 4 KB of the answer. */
  responseBody?: string | undefined;
  /** Why there was no answer. */
  error?: string | undefined;
  /** What probably went wrong, and what to do. */
  hint?: string | undefined;
}

/** A request to the documented API, as the sandbox saw it. */
export interface LoggedRequest {
  /** Counts from 1. */
  number: number;
  /** On the sandbox's clock. */
  at: Date;
  /** The HTTP method. */
  method: string;
  /** Path and query. */
  path: string;
  /** Absent where an ordered fault lost the answer. */
  status: number | undefined;
  /** In real milliseconds. */
  durationMs: number;
  /** The ordered fault that it met. */
  fault: string | undefined;
  /** Which key came: never the key itself. */
  key: 'ok' | 'missing' | 'wrong' | 'live';
  /** The choices that the answer depended on. */
  unspecified: (keyof UnspecifiedChoices)[];
  /** What the service may not forgive: unknown fields, a live key. */
  warnings: string[];
  /** The first 4 KB of the request's body. */
  body: string | undefined;
  /** The first 4 KB of the answer's body. */
  responseBody: string | undefined;
}

/** What a paid checkout leads to. */
export interface Paid {
  /** The order that was made. */
  order: SandboxOrder;
  /** The event that tells of it. */
  event: SandboxEvent;
  /** The first delivery attempt, where one was made. */
  delivery?: Attempt | undefined;
  /** Where the customer goes: `successUrl`. */
  redirectUrl: string | undefined;
}

/** Everything that a sandbox remembers, as JSON. It holds the key and the secret. Its parts may change. */
export interface SandboxSnapshot {
  /** Of the format. */
  version: 1;
  [part: string]: unknown;
}

/** The whole service on your own machine. Make one with {@link createSandbox}. */
export interface Sandbox extends AsyncDisposable {
  /** Where it is: the address after `listen()`, before that a name that only `fetch` knows. */
  readonly url: string;
  /** The key that the API takes. */
  readonly apiKey: string;
  /** The secret that signs events. */
  readonly webhookSecret: string;
  /**
   * What `new PaymentsClient()` needs. Before `listen()` the client calls the sandbox in process, without a socket;
   * after it the client uses the platform's `fetch` and real HTTP. A client keeps working across `listen()`.
   *
   * @example
   * ```ts
   * import { PaymentsClient } from 'merchant-payments';
   *
   * const client = new PaymentsClient(sandbox.clientOptions);
   * console.log((await client.balance.retrieve()).available);
   * ```
   */
  readonly clientOptions: {
    /** The sandbox's `url`. */
    baseUrl: string;
    /** The key that the API takes. */
    apiKey: string;
    /** In process, or the platform's after `listen()`. */
    fetch: typeof fetch;
  };

  /** The dashboard, with its access token where other machines can reach the sandbox. */
  readonly dashboardUrl: string;

  /** Answers a request in process. A path alone is taken to be under `url`. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Opens a socket on 127.0.0.1, on a free port unless one is given. */
  listen(options?: ListenOptions): Promise<Sandbox>;
  /** Ends sockets, timers and deliveries under way. */
  close(): Promise<void>;
  /** Forgets data, logs and faults and sets the clock back; keeps key, secret and webhook target. */
  reset(options?: { seed?: number | undefined }): void;

  /**
   * Pays, as the customer does on the payment page. Takes the checkout's id or its url.
   *
   * @throws {SandboxError} the checkout is unknown, paid, expired or cancelled, or its product is archived.
   */
  completeCheckout(ref: string, options?: { method?: PaymentMethod | undefined }): Promise<Paid>;
  /** The customer's payment is declined; the checkout stays open. Default `'card_declined'`. */
  failCheckout(ref: string, reason?: DeclineReason): Promise<void>;
  /** The customer goes back to the shop: `redirectUrl` is `cancelUrl`. */
  cancelCheckout(ref: string): Promise<Pick<Paid, 'redirectUrl'>>;
  /** Ends the checkout's time now. */
  expireCheckout(ref: string): Promise<void>;

  /** The product can no longer be sold. */
  archiveProduct(id: string): void;
  /** The product can be sold again. */
  restoreProduct(id: string): void;
  /** Makes a new key; the old one answers 401 at once. */
  regenerateKey(): string;
  /** Where webhooks go from now on; `undefined` for nowhere. */
  setWebhook(target: WebhookTarget | undefined): void;
  /** Moves an amount from `available` to `frozen`. */
  freeze(amount: string): void;
  /** Moves an amount from `frozen` to `available`. */
  release(amount: string): void;
  /** Moves all that is `pending` to `available`. */
  settle(): void;

  /** Copies, newest last. */
  readonly products: Product[];
  /** Copies, newest last. */
  readonly checkouts: SandboxCheckout[];
  /** Copies, newest last. */
  readonly orders: SandboxOrder[];
  /** Copies, newest last. */
  readonly events: SandboxEvent[];
  /** The newest 500 requests to the documented API. */
  readonly requests: LoggedRequest[];
  /** What the account holds now. */
  readonly balance: Balance;

  /**
   * Makes a paid order: a real product, checkout and payment, so that what a handler then reads back exists.
   * Default 19.90 in the balance's currency.
   */
  trigger(
    type: 'order.paid',
    options?: { amount?: string | undefined; currency?: string | undefined },
  ): Promise<Paid>;
  /** Sends all events that are due or held back, and waits for those under way. */
  deliver(): Promise<Attempt[]>;
  /** Sends any event once more, to the webhook and with the secret of now. */
  redeliver(eventId: string): Promise<Attempt>;
  /** The first event that matches, as soon as there is one. Default: the first of all, within 5 seconds. */
  waitForEvent(
    match?: (event: SandboxEvent) => boolean,
    options?: { timeoutMs?: number | undefined },
  ): Promise<SandboxEvent>;
  /** The event as your handler gets it, or spoilt: to test that it refuses. */
  signedRequest(event: SandboxEvent, options?: { tamper?: Tamper | undefined }): Promise<Request>;
  /**
   * Finds out what is wrong with a receiver: sends valid, forged, changed and stale deliveries about one throw-away
   * order and, if it refuses every valid one, what it might accept. Default: the webhook that is set.
   *
   * The valid ones are signed payments that are not real. They leave this machine and its private network only with
   * `allowRemoteWebhooks`.
   *
   * @example
   * ```ts
   * const { findings } = await sandbox.doctor(async () => new Response(null, { status: 404 }));
   * console.log(findings); // in a test: expect(findings).toEqual([])
   * ```
   *
   * @throws {SandboxError} no webhook is set or given, or its address may not be called.
   */
  doctor(target?: WebhookTarget, options?: DoctorOptions): Promise<Diagnosis>;

  /** The sandbox's time. */
  now(): Date;
  /** Moves the clock and does what falls due on the way, in order of time: expiry, settlement, each retry. */
  advanceTime(by: Duration): Promise<void>;
  /** Moves the clock to a moment. Going back undoes nothing. */
  setTime(to: Date): Promise<void>;
  /**
   * Orders a fault: of the next request to the documented API, or of the next event's delivery.
   *
   * @example
   * ```ts
   * sandbox.failNext({ method: 'POST', when: 'after', network: 'reset' }); // done, and the answer is lost
   * ```
   */
  failNext(fault: Fault): void;
  /** Forgets faults that have not happened. */
  clearFaults(): void;
  /** All that the sandbox remembers, as JSON, with key and secret; `createSandbox({ from })` restores it. */
  snapshot(): SandboxSnapshot;
}

/** How a delivery is spoilt. */
export type Tamper =
  /** The amount is raised after signing. */
  | 'body'
  /** Another signature. */
  | 'signature'
  /** Another timestamp than the one that was signed. */
  | 'timestamp'
  /** No signature and no timestamp. */
  | 'missing'
  /** Signed with another secret. */
  | 'secret'
  /** Rightly signed, a day ago. */
  | 'stale'
  /** Rightly signed, a day ahead. */
  | 'future';

/** A fault of a request to the documented API. */
export type RequestFault = {
  /** Such as `POST`. Default: every method. */
  method?: string | undefined;
  /** The exact path, without query, or a pattern. Default: every path. */
  path?: string | RegExp | undefined;
  /** How many requests. Default 1. */
  times?: number | undefined;
  /** `'after'`: the work is done and its answer lost. Default `'before'`, and `'after'` for `malformed`. */
  when?: 'before' | 'after' | undefined;
  /** Waits so long before it happens, in real time. */
  delay?: Duration | undefined;
} & (
  | {
      /** The HTTP status of the answer. */
      status: number;
      /** The body of the answer. */
      body?: unknown;
      /** Headers of the answer, such as `retry-after`. */
      headers?: Record<string, string> | undefined;
    }
  | {
      /** No answer: the connection is cut, stays silent or is refused. */
      network: 'reset' | 'timeout' | 'refused';
    }
  | {
      /** An answer that breaks the contract. */
      malformed: 'html' | 'truncated' | 'empty' | 'not-enveloped' | 'code-not-zero';
    }
  | {
      /** Late, and otherwise as ever. */
      delay: Duration;
    }
);

/** A fault of the first attempt to deliver an event. */
export interface WebhookFault {
  /** Marks it as a fault of a delivery. */
  webhook: true;
  /** How many events. Default 1. */
  times?: number | undefined;
  /** Sends it so many more times. */
  duplicate?: number | undefined;
  /** Keeps it until `deliver()` or `redeliver()`: late, or after newer ones. */
  hold?: boolean | undefined;
  /** Loses the attempt; the retries come. */
  drop?: boolean | undefined;
  /** Spoils it. */
  tamper?: Tamper | undefined;
  /** Sends it so much later, on the sandbox's clock. */
  delay?: Duration | undefined;
}

/** What `failNext()` makes happen. */
export type Fault = RequestFault | WebhookFault;
