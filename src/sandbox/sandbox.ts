import type { Diagnosis, DoctorOptions } from '../doctor/doctor.js';
import type { Duration } from '../input/duration.js';
import type { Balance } from '../schemas/balance.js';
import type { Product } from '../schemas/product.js';
import type { WebhookTarget } from '../sending/delivery.js';
import type { Tamper } from './delivery/signing.js';
import type { Fault } from './faults.js';
import type { LoggedRequest } from './http/log.js';
import type { ListenOptions } from './http/node.js';
import type { Attempt, EventType, SandboxEvent } from './service/event.js';
import type { DeclineReason, PaymentMethod, SandboxCheckout, SandboxOrder } from './service/records.js';
import type { SandboxSnapshot } from './service/snapshot.js';
import type { TriggerOptions } from './service/trigger.js';
import type { WebhookSigning } from './settings.js';

/** The result of a payment. */
export interface Paid {
  /** The order. */
  order: SandboxOrder;
  /** The event that announces it. */
  event: SandboxEvent;
  /** The first delivery attempt, if one was made. */
  delivery?: Attempt | undefined;
  /** URL that the customer is sent to, which is `successUrl`. */
  redirectUrl: string | undefined;
}

/** A local sandbox that emulates the whole API. {@link createSandbox} creates one. */
export interface Sandbox extends AsyncDisposable {
  /** URL of the sandbox after `listen()`. Before that, a name that only `fetch` resolves. */
  readonly url: string;
  /** API key that the sandbox accepts. */
  readonly apiKey: string;
  /** Secret that signs the events. */
  readonly webhookSecret: string;
  /** Options for `new PaymentsClient()`: in process before `listen()`, over HTTP after it. A client outlives `listen()`. */
  readonly clientOptions: {
    /** The sandbox's `url`. */
    baseUrl: string;
    /** API key that the sandbox accepts. */
    apiKey: string;
    /** The in-process `fetch`. Absent after `listen()`, so that the client sends as it does in production. */
    fetch?: typeof fetch;
  };

  /** URL of the dashboard, with the access token if other machines can reach the sandbox. */
  readonly dashboardUrl: string;

  /** Handles a request in process. A path is resolved against `url`. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Opens a socket on 127.0.0.1, on a free port unless one is given. Two calls at the same time open one socket. */
  listen(options?: ListenOptions): Promise<Sandbox>;
  /** Closes sockets, stops timers and aborts deliveries in flight. */
  close(): Promise<void>;
  /** Deletes all data except key, secret and webhook, sets the clock back and creates the option `products` again. */
  reset(options?: { seed?: number | undefined }): void;

  /**
   * Pays a checkout, as the customer does on the payment page. Takes the checkout's id or its URL.
   *
   * @throws {SandboxError} the checkout is unknown, paid, expired or cancelled, or its product is archived.
   */
  completeCheckout(ref: string, options?: { method?: PaymentMethod | undefined }): Promise<Paid>;
  /** Declines the customer's payment. The checkout stays open. Default reason `'card_declined'`. */
  failCheckout(ref: string, reason?: DeclineReason): Promise<void>;
  /** Cancels the payment, as the customer does. The returned `redirectUrl` is `cancelUrl`. */
  cancelCheckout(ref: string): Promise<Pick<Paid, 'redirectUrl'>>;
  /** Makes the checkout expire now. */
  expireCheckout(ref: string): Promise<void>;

  /** Archives a product, which then can no longer be sold. */
  archiveProduct(id: string): void;
  /** Restores a product, which then can be sold again. */
  restoreProduct(id: string): void;
  /** Replaces the API key and returns the new one. The old key gets 401 from then on. */
  regenerateKey(): string;
  /** Sets the target of webhooks and how they are signed. With `undefined` as target, none is sent. */
  setWebhook(target: WebhookTarget | undefined, signing?: WebhookSigning): void;
  /** Moves all `pending` money to `available`. */
  settle(): void;

  /** Copies of all products, newest last. */
  readonly products: Product[];
  /** Copies of all checkouts, newest last. */
  readonly checkouts: SandboxCheckout[];
  /** Copies of all paid orders, newest last. */
  readonly orders: SandboxOrder[];
  /** Copies of all events, newest last. */
  readonly events: SandboxEvent[];
  /** The newest 500 requests to the documented API. */
  readonly requests: LoggedRequest[];
  /** The account's current balance. */
  readonly balance: Balance;

  /** Causes an event by paying a checkout of a new product, which is then archived. Default 19.90 in the balance's currency. */
  trigger(type: EventType, options?: TriggerOptions): Promise<Paid>;
  /** Sends all events that are due, held or without a webhook so far, and waits for deliveries in flight. */
  deliver(): Promise<Attempt[]>;
  /** Sends an event once more, to the current webhook and with the current secret. Takes the id of the event or of its order. */
  redeliver(id: string): Promise<Attempt>;
  /** Resolves to the first event that matches, as soon as there is one. Default: any event, within 5 seconds. */
  waitForEvent(
    match?: (event: SandboxEvent) => boolean,
    options?: { timeoutMs?: number | undefined },
  ): Promise<SandboxEvent>;
  /** Returns the request of an event as your handler receives it, or tampered with, to test that your handler rejects it. */
  signedRequest(event: SandboxEvent, options?: { tamper?: Tamper | undefined }): Promise<Request>;
  /**
   * Finds the faults of a receiver, with valid, forged, changed and stale deliveries about throw-away orders. Default: the
   * webhook that is set. The valid deliveries are signed events of payments that were never made. Without
   * `allowRemoteWebhooks`, nothing leaves this machine and its private network.
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

  /** Returns the sandbox's time. */
  now(): Date;
  /** Moves the clock, does everything that becomes due in order (expiry, settlement, retries) and waits for the deliveries. */
  advanceTime(by: Duration): Promise<void>;
  /** Moves the clock to a date. An earlier date undoes nothing. */
  setTime(to: Date): Promise<void>;
  /**
   * Sets a fault for the next request to the documented API, or for the next event's delivery.
   *
   * @example
   * ```ts
   * sandbox.failNext({ method: 'POST', when: 'after', network: 'reset' }); // done, and the response is lost
   * ```
   */
  failNext(fault: Fault): void;
  /** The pending faults. */
  readonly faults: readonly {
    /** The fault as passed to `failNext()`. */
    readonly fault: Fault;
    /** Number of times that it has yet to happen. */
    readonly left: number;
  }[];
  /** Removes all faults. */
  clearFaults(): void;
  /** Returns all data of the sandbox as JSON, with key and secret. `createSandbox({ from })` restores it. */
  snapshot(): SandboxSnapshot;
}
