/** A delivery, ready to be sent. */
export interface Outgoing {
  headers: Record<string, string>;
  body: string;
}

/** What came of sending a delivery once: a response, or why there is none. */
export interface Sent {
  status?: number;
  headers?: Record<string, string>;
  /** The beginning of the body. */
  body?: string;
  error?: string;
  /** The system's code, such as `ECONNREFUSED`, or `timeout`. */
  code?: string;
}

/** Where deliveries go: a URL, or a Fetch-style route handler itself, which needs no port. */
export type WebhookTarget = string | ((request: Request) => Response | Promise<Response>);
