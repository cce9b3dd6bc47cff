/**
 * What ky finds in dist/ in the place of the platform's classes (tsup.config.ts). It needs no more of them: it makes a
 * Request, and hands it to the transport's own `fetch`, which has the whole request already. Node's own classes
 * cost more and load Node's fetch (docs/decisions/node-http-transport.md).
 */
export class KyRequest {
  readonly url: string;
  readonly method: string;
  readonly body = null;

  constructor(url: string, { method }: { method: string }) {
    this.url = url;
    this.method = method;
  }
}

/** Without headers: those that go out were never given to ky. */
export class KyHeaders extends Map<string, string> {
  constructor(_init?: unknown) {
    super();
  }
}

/** An answer that is over. */
export class KyResponse {
  readonly ok = true;
}
