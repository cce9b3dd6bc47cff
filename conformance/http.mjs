// Delivers the cases to a receiver over HTTP, freshly signed, one after the other.
import { request as requestHttp } from 'node:http';
import { request as requestHttps } from 'node:https';
import { cases } from './corpus.mjs';
import { makeDelivery } from './make.mjs';
import { inapplicable, tooNear } from './schemes.mjs';

const longestBody = 100_000; // many receivers cap bodies, and may
const limitMs = 15_000;

export async function* examineReceiver(url, { secret, scheme }) {
  if (!/^https?:/.test(url) || !URL.canParse(url)) {
    throw new Error(
      `"${url}" is not the address of a receiver. Pass one such as http://localhost:3000/webhooks.`,
    );
  }
  const deliver = (one) =>
    send(url, makeDelivery(one, { secret, now: Math.floor(Date.now() / 1000), scheme }));
  const good = await deliver(cases.find(({ id }) => id === 'body-good'));
  if (typeof good !== 'number') throw new Error(`No receiver answers at ${url}: ${good}.`);
  if (!isOk(good)) {
    throw new Error(
      `The receiver answered ${good} to a valid delivery, so nothing else can be learnt. Give it the secret of WEBHOOK_SECRET, ` +
        'name its scheme with --scheme, and let it verify the raw bytes of the body.',
    );
  }
  for (const one of cases) {
    const skipped = inapplicable(one, scheme) ?? tooNear(one) ?? unsendable(one, { secret, scheme });
    yield skipped ? { one, skipped } : { one, outcome: outcomeOf(one, await deliver(one)) };
  }
}

function isOk(status) {
  return status >= 200 && status < 300;
}

/** A forged delivery deserves 4xx: 5xx says that the receiver is broken, and asks for a retry; 3xx says nothing. */
function outcomeOf(one, status) {
  const note = typeof status === 'number' ? `HTTP ${status}` : status;
  if (isOk(status)) return { result: 'accepted', note };
  const isRefusal = status >= 400 && status < 500;
  return { result: isRefusal || one.kind !== 'verification' ? 'rejected' : 'crashed', note };
}

function unsendable(one, { secret, scheme }) {
  const { body, headers } = makeDelivery(one, { secret, now: 0, scheme });
  if (body.byteLength > longestBody) return 'many receivers cap bodies at 100 kB, and may';
  const isPlain = headers.every(([, value]) => /^([!-~]([ -~]*[!-~])?)?$/.test(value));
  return isPlain ? undefined : 'HTTP cannot carry such a header';
}

/** The status, or what went wrong on the way. */
function send(url, { body, headers }) {
  const own = [
    ['host', new URL(url).host],
    ['content-type', 'application/json'],
    ['content-length', String(body.byteLength)],
    ['connection', 'close'],
  ];
  const make = url.startsWith('https:') ? requestHttps : requestHttp;
  return new Promise((resolve) => {
    const failed = ({ message }) => resolve(message);
    const request = make(url, { method: 'POST', agent: false, headers: [...own, ...headers].flat() });
    request.setTimeout(limitMs, () => request.destroy(new Error(`no response in ${limitMs / 1000} s`)));
    request.on('error', failed);
    request.on('response', (response) => {
      response.resume();
      response.on('error', failed);
      response.on('end', () => resolve(response.statusCode));
    });
    request.end(body);
  });
}
