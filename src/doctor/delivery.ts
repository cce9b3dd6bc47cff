/** A delivery, ready to be sent. */
export interface Outgoing {
  headers: Record<string, string>;
  body: string;
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

/** What a sender sees: a route handler that throws becomes a 500 in any server. */
export function asServed(sent: Sent, target: string): Sent {
  const thrown = sent.status === undefined && sent.code !== 'timeout' && !URL.canParse(target);
  return thrown ? { status: 500, headers: {}, body: sent.error } : sent;
}

/** Where deliveries go: a URL, or a Fetch-style route handler itself, which needs no port. */
export type WebhookTarget = string | ((request: Request) => Response | Promise<Response>);
