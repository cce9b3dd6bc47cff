import ky from 'ky';
import { onAbort } from './aborts.js';
import { type Answer, type Carrier, type Exchange, ExchangeFailure, type Outgoing } from './exchange.js';
import { isPolluted } from './shield.js';

/** The exchange has read the answer before ky learns that it is over; ky is handed this in its place. */
let over: Response | undefined;

/**
 * One request and its whole answer, through ky. Retries, time limits and errors are the transport's: ky's own would
 * read the body outside its limits, follow its own table for writes, and hold the API key in its errors.
 *
 * In dist/, `globalThis.Request` and `globalThis.Response` are those of ky-platform.ts, here and in ky.
 *
 * Rejects with an `ExchangeFailure`, or with the caller's `signal.reason`.
 */
export async function attempt(
  carrier: Carrier,
  outgoing: Outgoing,
  { limitMs, signal }: { limitMs: number; signal: AbortSignal | undefined },
): Promise<Answer> {
  let exchange: Exchange | undefined;
  let answer: Answer | undefined;
  const timer = setTimeout(() => exchange?.stop('timeout'), limitMs);
  const forget = onAbort(signal, () => exchange?.stop('aborted'));
  const carry = async () => {
    signal?.throwIfAborted();
    exchange = carrier.begin(outgoing);
    answer = await exchange.answer;
  };
  try {
    // On a polluted prototype, ky would take options from there.
    if (isPolluted()) await carry();
    else {
      await ky(outgoing.url, {
        method: outgoing.method,
        // One attempt and no more.
        retry: 0,
        timeout: false,
        fetch: async (request) => {
          // The key goes to this address and to no other, whatever happened on the way here.
          if (!(request instanceof globalThis.Request) || request.url !== outgoing.url)
            throw new ExchangeFailure('connect', 'wrong_url');
          await carry();
          over ??= new globalThis.Response(null);
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
