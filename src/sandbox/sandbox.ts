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
  /** Where the customer goes: `successUrl`. */
  redirectUrl: string | undefined;
}

/** A local sandbox that emulates the whole API. Make one with {@link createSandbox}. */
export interface Sandbox extends AsyncDisposable {
  /** The address after `listen()`; before that, a name that only `fetch` knows. */
  readonly url: string;
  /** The key that the API takes. */
  readonly apiKey: string;
  /** The secret that events are signed with. */
  readonly webhookSecret: string;
  /** What `new PaymentsClient()` needs: in process before `listen()`, over HTTP after it. A client outlives `listen()`. */
  readonly clientOptions: {
    /** The sandbox's `url`. */
    baseUrl: string;
    /** The key that the API takes. */
    apiKey: string;
    /** In process; absent after `listen()`, so that the client sends as it does in production. */
    fetch?: typeof fetch;
  };

  /** The dashboard, with its access token if other machines can reach the sandbox. */
  readonly dashboardUrl: string;

  /** Handles a request in process. A path is resolved against `url`. */
  fetch(input: string | URL | Request, init?: RequestInit): Promise<Response>;
  /** Opens a socket on 127.0.0.1, on a free port unless one is given. Two calls at the same time open one socket. */
  listen(options?: ListenOptions): Promise<Sandbox>;
  /** Ends sockets, timers and deliveries in flight. */
  close(): Promise<void>;
  /** Forgets all but key, secret and webhook, sets the clock back and creates the option `products` again. */
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
  /** Makes the checkout expire now. */
  expireCheckout(ref: string): Promise<void>;

  /** The product can no longer be sold. */
  archiveProduct(id: string): void;
  /** The product can be sold again. */
  restoreProduct(id: string): void;
  /** Makes a new key; from then on the old one gets 401. */
  regenerateKey(): string;
  /** Where webhooks go from now on, and how they are signed; `undefined` for nowhere. */
  setWebhook(target: WebhookTarget | undefined, signing?: WebhookSigning): void;
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
  /** The account's balance now. */
  readonly balance: Balance;

  /** Makes an event happen, with a real checkout and payment of a product that is archived then. Default 19.90 in the balance's currency. */
  trigger(type: EventType, options?: TriggerOptions): Promise<Paid>;
  /** Sends all events that are due or held back, and waits for those in flight. */
  deliver(): Promise<Attempt[]>;
  /** Sends any event, or that of an order, once more: to the current webhook and with the current secret. */
  redeliver(id: string): Promise<Attempt>;
  /** The first event that matches, as soon as there is one. Default: the first of all, within 5 seconds. */
  waitForEvent(
    match?: (event: SandboxEvent) => boolean,
    options?: { timeoutMs?: number | undefined },
  ): Promise<SandboxEvent>;
  /** The event as your handler receives it, or tampered with, to test that your handler rejects it. */
  signedRequest(event: SandboxEvent, options?: { tamper?: Tamper | undefined }): Promise<Request>;
  /**
   * Finds out what is wrong with a receiver, by valid, forged, changed and stale deliveries about throw-away orders.
   * Default: the webhook that is set. The valid ones are signed payments that are not real; nothing leaves this machine
   * and its private network without `allowRemoteWebhooks`.
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
  /** Moves the clock, does what becomes due in order (expiry, settlement, retries) and waits for its deliveries. */
  advanceTime(by: Duration): Promise<void>;
  /** Moves the clock to a date. Going back undoes nothing. */
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
  /** The faults that were set. */
  readonly faults: readonly {
    /** As `failNext()` got it. */
    readonly fault: Fault;
    /** How often it has yet to happen. */
    readonly left: number;
  }[];
  /** Removes all faults. */
  clearFaults(): void;
  /** All data of the sandbox as JSON, key and secret included; `createSandbox({ from })` restores it. */
  snapshot(): SandboxSnapshot;
}
