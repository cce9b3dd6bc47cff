import type { KyInstance } from 'ky';
import { onAbort } from './aborts.js';
import { type Answer, type Carrier, type Exchange, ExchangeFailure, type Outgoing } from './exchange.js';
import { isPolluted } from './shield.js';

/** Loading ky loads Node's whole fetch, so it waits for the first request. */
let ky: KyInstance | undefined;

/** The exchange has read the answer before ky learns that it is over; ky is handed this in its place. */
let over: Response | undefined;

/**
 * One request and its whole answer, through ky. Retries, time limits and errors are the transport's: ky's own would
 * read the body outside its limits, follow its own table for writes, and hold the API key in its errors.
 *
 * Rejects with an `ExchangeFailure`, or with the caller's `signal.reason`.
 */
export async function attempt(
  carrier: Carrier,
  outgoing: Outgoing,
  { limitMs, signal }: { limitMs: number; signal: AbortSignal | undefined },
): Promise<Answer> {
  ky ??= (await import('ky')).default;
  signal?.throwIfAborted();
  let exchange: Exchange | undefined;
  let answer: Answer | undefined;
  const timer = setTimeout(() => exchange?.stop('timeout'), limitMs);
  const forget = onAbort(signal, () => exchange?.stop('aborted'));
  const carry = async (request: RequestInfo | URL) => {
    signal?.throwIfAborted();
    exchange = carrier.begin(outgoing, request);
    answer = await exchange.answer;
  };
  try {
    // On a polluted prototype, ky and Request would take headers, body and query from there.
    if (isPolluted() && !carrier.needsWholeRequest) await carry(outgoing.url);
    else {
      await ky(outgoing.url, {
        ...(carrier.needsWholeRequest ? wholeRequest(outgoing) : { method: outgoing.method }),
        ...single,
        fetch: async (request) => {
          // The key goes to this address and to no other, whatever happened on the way here.
          if (!(request instanceof Request) || request.url !== outgoing.url)
            throw new ExchangeFailure('connect', 'wrong_url');
          await carry(request);
          over ??= new Response(null);
          return over;
        },
      });
    }
  } catch (failure) {
    signal?.throwIfAborted();
    throw failure instanceof ExchangeFailure
      ? failure
      : new ExchangeFailure(exchange ? 'exchange' : 'connect', 'network');
  } finally {
    clearTimeout(timer);
    forget();
  }
  if (!answer) throw new ExchangeFailure('exchange', 'network');
  return answer;
}

/** What makes ky run one attempt and no more. */
const single = { retry: 0, timeout: false, throwHttpErrors: false } as const;

function wholeRequest({ method, headers, body }: Outgoing) {
  return { method, headers: { ...headers }, body: body ?? null };
}
