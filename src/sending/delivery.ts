/** A delivery, ready to be sent. */
export interface Outgoing {
  headers: Record<string, string>;
  body: string;
  /** Headers that are sent once more, after those of the same name. */
  repeated?: Record<string, string>;
}

/** The result of sending a delivery once: a response, or why there is none. */
export interface Sent {
  status?: number | undefined;
  headers?: Record<string, string> | undefined;
  /** The beginning of the body. */
  body?: string | undefined;
  error?: string | undefined;
  /** The system's code, such as `ECONNREFUSED`, or `timeout`. */
  code?: string | undefined;
}

/** Where deliveries go: a URL, or a Fetch-style route handler itself, which needs no port. */
export type WebhookTarget = string | ((request: Request) => Response | Promise<Response>);
