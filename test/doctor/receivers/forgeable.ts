import { randomUUID, timingSafeEqual } from 'node:crypto';
import {
  type Answer,
  event,
  html,
  type Incoming,
  invalid,
  isEqual,
  isFresh,
  isGenuine,
  mac,
  macWith,
  order,
  type Receiver,
  received,
  row,
  seconds,
  secret,
  signatureOf,
  wait,
} from './kit.js';

const parseThenAnswer =
  (answer: (incoming: Incoming) => Answer): (() => Receiver) =>
  () =>
  (incoming) => {
    JSON.parse(incoming.text);
    return answer(incoming);
  };

/** Fresh, and with a signature that `good` takes. */
const compareWith =
  (good: (given: string, wanted: string) => boolean): (() => Receiver) =>
  () =>
  (incoming) =>
    isFresh(incoming) && good(incoming.signature, signatureOf(incoming)) ? received : invalid;

const danger = { says: /^DANGER/ };

const checksum = (hex: string): number => Buffer.from(hex, 'hex').reduce((sum, byte) => sum + byte, 0);

let events = 0;
const letter = (): string => String.fromCharCode(97 + Math.floor(Math.random() * 26));

const neverVerifies = [
  row(
    'never verifies: JSON',
    'accepts_forged',
    parseThenAnswer(() => received),
    {
      says: /^DANGER: Your handler accepts forged events\. It does not verify signatures.*webhooks\.verify\(/,
    },
  ),
  row(
    'never verifies: Python',
    'accepts_forged',
    parseThenAnswer(() => [200, '', { server: 'BaseHTTP/0.6 Python/3.11.2' }]),
    { says: /in Python, hmac\.compare_digest\(/ },
  ),
  row(
    'never verifies: PHP',
    'accepts_forged',
    parseThenAnswer(() => [200, '', { 'x-powered-by': 'PHP/8.2.7' }]),
    { says: /compare the whole signature with the HMAC of the raw body, in constant time/ },
  ),
  row(
    'never verifies: ok as text/html',
    'accepts_forged',
    parseThenAnswer(() => [200, 'ok', html]),
    danger,
  ),
  row(
    'never verifies: OK as text/html, whatever it gets',
    'accepts_forged|answers_everything',
    () => () => [200, 'OK', html],
    danger,
  ),
  row(
    'never verifies: an HTML fragment',
    'accepts_forged',
    parseThenAnswer(() => [200, '<p>Thank you</p>', html]),
    danger,
  ),
  row(
    'never verifies: 204',
    'accepts_forged',
    parseThenAnswer(() => [204]),
    danger,
  ),
  row(
    'never verifies: 202 queued',
    'accepts_forged',
    parseThenAnswer(() => [202, 'queued']),
    danger,
  ),
  row(
    'never verifies: text',
    'accepts_forged',
    parseThenAnswer(() => [200, 'success']),
    danger,
  ),
  row(
    'never verifies: says that there was no error',
    'accepts_forged',
    parseThenAnswer(() => [200, { ok: true, error: null }]),
    danger,
  ),
  row(
    'never verifies: counts failures',
    'accepts_forged',
    parseThenAnswer(() => [200, { processed: 1, failed: 0, errors: [] }]),
    danger,
  ),
  row(
    'never verifies: an HTML page with a CSRF token in its head',
    'accepts_forged',
    parseThenAnswer(() => [
      200,
      '<html><head><meta name="csrf-token" content="x"></head>Thank you</html>',
      html,
    ]),
    danger,
  ),
  row(
    'never verifies: a whole HTML page, whatever it gets',
    'login_page',
    () => () => [200, '<!DOCTYPE html><html><body>OK</body></html>', html],
    { says: /If it is your handler, it accepts forged events/ },
  ),
  row(
    'never verifies: echoes the order',
    'accepts_forged',
    parseThenAnswer((i) => [200, { order: order(i), paid: true }]),
    danger,
  ),
  row(
    'never verifies: echoes the amount in cents',
    'accepts_forged',
    parseThenAnswer((i) => [200, { cents: Math.round(Number(event(i).data.amount) * 100) }]),
    danger,
  ),
  row(
    'never verifies: echoes the whole event',
    'accepts_forged',
    parseThenAnswer((i) => [200, event(i)]),
    danger,
  ),
  row(
    'never verifies: echoes the signature',
    'accepts_forged',
    parseThenAnswer((i) => [200, `got ${i.signature || 'nothing'}`]),
    danger,
  ),
  row(
    'never verifies: an id and a time in each response',
    'refuses_with_success',
    parseThenAnswer(() => [200, { id: randomUUID(), at: new Date().toISOString() }]),
    { says: /anybody can forge orders/ },
  ),
  row(
    'never verifies: counts',
    'refuses_with_success',
    () => {
      let count = 0;
      return parseThenAnswer(() => [200, { received: ++count }])();
    },
    { says: /anybody can forge orders/ },
  ),
  ...Object.entries({
    'an id of letters': () => `ok ${Array.from({ length: 8 }, letter).join('')}`,
    'a count of events': () => `${++events} event${events === 1 ? '' : 's'} received`,
    'an id in base64': () => `ok 7${Buffer.from(randomUUID()).toString('base64').slice(-19)}==`,
  }).map(([name, words]) =>
    row(
      `never verifies: ${name}`,
      'refuses_with_success',
      parseThenAnswer(() => [200, words()]),
      { says: /anybody can forge orders/ },
    ),
  ),
  row(
    'never verifies: echoes headers and body, as httpbin',
    'refuses_with_success',
    parseThenAnswer(({ headers, text }) => [200, { headers, data: text }]),
    { says: /anybody can forge orders/ },
  ),
  row(
    'never verifies: PHP warns that a header is missing',
    'accepts_forged',
    parseThenAnswer(({ headers }) => [
      200,
      `${headers['x-service-signature'] === undefined ? '<b>Warning</b>: Undefined array key "HTTP_X_SERVICE_SIGNATURE" in /var/www/w.php' : ''}OK`,
      html,
    ]),
    danger,
  ),
  row(
    'checks the form of the signature, and gives ids',
    'refuses_with_success',
    () => (incoming) => (/^[0-9a-f]{64}$/.test(incoming.signature) ? [200, { id: randomUUID() }] : invalid),
    { says: /anybody can forge orders/ },
  ),
  row(
    'checks the form of the signature, and counts batches of four',
    'refuses_with_success',
    () => {
      let count = 0;
      return ({ signature }) =>
        /^[0-9a-f]{64}$/.test(signature) ? [200, `batch ${Math.floor(++count / 4)}`] : invalid;
    },
    { says: /anybody can forge orders/ },
  ),
  row(
    'checks the form of the signature, and the second changes after the first delivery',
    'refuses_with_success',
    () => {
      let count = 0;
      return ({ signature }) =>
        /^[0-9a-f]{64}$/.test(signature) ? [200, `at 23:20:${++count > 2 ? 31 : 30}`] : invalid;
    },
    { says: /anybody can forge orders/ },
  ),
  row(
    'never verifies: knows duplicates',
    'accepts_forged',
    () => {
      const seen = new Set<string>();
      return parseThenAnswer((i) => {
        const known = seen.has(order(i));
        seen.add(order(i));
        return [200, known ? 'duplicate' : 'created'];
      })();
    },
    danger,
  ),
  row(
    'never verifies: words at random',
    'accepts_forged',
    () => {
      let count = 0;
      const words = ['Great', 'Thanks', 'Cheers', 'Thanks', 'Great', 'Cheers'];
      return parseThenAnswer(() => [200, `${words[count++ % words.length]}`])();
    },
    danger,
  ),
  row(
    'never verifies: slow',
    'accepts_forged',
    () => async (incoming) => {
      JSON.parse(incoming.text);
      await wait(50);
      return [200, 'ok'];
    },
    danger,
  ),
  row(
    'forgets to await the check',
    'accepts_forged',
    () => (incoming) => {
      const check = async () => isGenuine(incoming);
      const checked: unknown = check();
      return checked ? [200, event(incoming).type] : invalid;
    },
    danger,
  ),
  row(
    'checks in production only',
    'accepts_forged',
    () => (incoming) =>
      process.env.NODE_ENV === 'production' && !isGenuine(incoming)
        ? invalid
        : [200, { type: event(incoming).type }],
    danger,
  ),
  row(
    'trusts the user agent',
    'accepts_forged',
    () => (incoming) =>
      isGenuine(incoming) || String(incoming.headers['user-agent']).includes('payments')
        ? [200, { type: event(incoming).type }]
        : invalid,
    danger,
  ),
  row(
    'checks the time only',
    'accepts_forged',
    () => (incoming) => (isFresh(incoming) ? received : invalid),
    danger,
  ),
  row(
    'checks that both headers are there',
    'accepts_forged',
    () => (incoming) => (incoming.signature && incoming.timestamp ? received : invalid),
    danger,
  ),
  row(
    'checks that there is a header, even an empty one',
    'accepts_forged',
    () => (incoming) => (incoming.headers['x-service-signature'] === undefined ? invalid : received),
    danger,
  ),
  row(
    'checks the form of the signature',
    'accepts_forged',
    () => (incoming) => (/^[0-9a-f]{64}$/.test(incoming.signature) && isFresh(incoming) ? received : invalid),
    danger,
  ),
  row(
    'checks the length of the signature',
    'accepts_forged',
    compareWith((given, wanted) => given.length === wanted.length),
    danger,
  ),
  row(
    'logs a mismatch and goes on',
    'accepts_forged',
    () => {
      const log: string[] = [];
      return (incoming) => {
        if (!isGenuine(incoming)) log.push('signature mismatch');
        return [200, event(incoming).type];
      };
    },
    danger,
  ),
  ...(
    [
      ['one of seven servers never verifies', (count: number) => count % 7 === 4],
      ['one of nine servers never verifies', (count: number) => count % 9 === 3],
    ] as const
  ).map(([name, skips]) =>
    row(
      name,
      'accepts_forged',
      () => {
        let count = 0;
        return (incoming) => (skips(count++) || isGenuine(incoming) ? received : invalid);
      },
      danger,
    ),
  ),
  row('has no tolerance at first', 'no_tolerance', () => {
    let late = 0;
    return (incoming) => {
      if (!isEqual(incoming.signature, signatureOf(incoming))) return invalid;
      if (!isFresh(incoming)) late += 1;
      return isFresh(incoming) || late <= 2 ? received : invalid;
    };
  }),
  row(
    'responds, then verifies',
    'answers_before_verifying|answers_everything|accepts_forged',
    () => (incoming) => {
      queueMicrotask(() => isGenuine(incoming));
      return received;
    },
    danger,
  ),
];

const takesUnsigned = [
  row(
    'verifies only if there is a signature',
    'accepts_unsigned',
    () => (incoming) => (incoming.signature && !isGenuine(incoming) ? invalid : received),
    danger,
  ),
  row(
    'verifies only if there is a timestamp',
    'accepts_unsigned',
    () => (incoming) => (incoming.timestamp && !isGenuine(incoming) ? invalid : received),
    danger,
  ),
  row(
    'takes an empty signature',
    'accepts_unsigned|weak_comparison',
    () => (incoming) => {
      if (incoming.headers['x-service-signature'] === undefined) return [401, 'signature missing'];
      return incoming.signature && !isGenuine(incoming) ? invalid : received;
    },
    danger,
  ),
  row(
    'takes an empty signature in other words',
    'accepts_unsigned|weak_comparison|refuses_with_success',
    () => (incoming) => {
      if (incoming.headers['x-service-signature'] === '') return [200, 'ping'];
      return isGenuine(incoming) ? received : invalid;
    },
  ),
  row(
    'pings: 200 to what is not signed',
    'refuses_with_success',
    () => (incoming) => {
      if (incoming.headers['x-service-signature'] === undefined) return [200, 'pong'];
      return isGenuine(incoming) ? received : invalid;
    },
    { says: /pong/ },
  ),
  row(
    'goes on when the comparison throws',
    'accepts_forged',
    () => (incoming) => {
      if (incoming.signature === '') return invalid;
      try {
        if (incoming.signature.length !== 64)
          throw new RangeError('Input buffers must have the same byte length');
        if (!isGenuine(incoming)) return invalid;
      } catch {}
      return received;
    },
    danger,
  ),
];

const skips = [
  row(
    'goes on when the lengths differ',
    'accepts_forged',
    () => (incoming) => {
      try {
        if (!incoming.signature || !isFresh(incoming)) return invalid;
        const given = Buffer.from(incoming.signature, 'hex');
        return timingSafeEqual(given, Buffer.from(signatureOf(incoming), 'hex')) ? received : invalid;
      } catch {
        return received;
      }
    },
    { says: /^DANGER.*half of the signature left out" got 200/s },
  ),
  row(
    'goes on when the signature is not hex',
    'accepts_forged',
    () => (incoming) => {
      if (!incoming.signature || !isFresh(incoming)) return invalid;
      if (!/^(?:[0-9a-f]{2})*$/.test(incoming.signature)) return received;
      return isEqual(incoming.signature, signatureOf(incoming)) ? received : invalid;
    },
    danger,
  ),
  row(
    'skips what has no timestamp',
    'accepts_forged',
    () => (incoming) => {
      if (!incoming.signature) return invalid;
      return incoming.timestamp && !isGenuine(incoming) ? invalid : received;
    },
    danger,
  ),
  row(
    'skips a timestamp that is not a number',
    'accepts_forged',
    () => (incoming) => {
      if (!incoming.signature || !incoming.timestamp) return invalid;
      return Number.isNaN(Number(incoming.timestamp)) || isGenuine(incoming) ? received : invalid;
    },
    danger,
  ),
  row(
    'goes on when the signature is not ASCII',
    'accepts_forged',
    () => (incoming) => {
      try {
        if (!isFresh(incoming) || incoming.signature.length !== 64) return invalid;
        const given = Buffer.from(incoming.signature);
        return timingSafeEqual(given, Buffer.from(signatureOf(incoming))) ? received : invalid;
      } catch {
        return received;
      }
    },
    danger,
  ),
  row(
    'verifies what its JSON parser reads, and takes forms too',
    'accepts_unsigned',
    () => (incoming) => {
      const type = incoming.headers['content-type'];
      if (type === 'application/json') return isGenuine(incoming) ? received : invalid;
      const form = new URLSearchParams(incoming.text);
      return form.get('type') === 'order.paid' && form.get('data[order_id]') ? received : invalid;
    },
    { says: /^DANGER.*not application\/json/ },
  ),
  row(
    'verifies application/json only, and parses anything',
    'accepts_unsigned',
    () => (incoming) => {
      if (incoming.headers['content-type'] === 'application/json' && !isGenuine(incoming)) return invalid;
      return order(incoming) ? received : invalid;
    },
    danger,
  ),
];

const compares = [
  row(
    'mac.startsWith(signature)',
    'weak_comparison',
    compareWith((given, wanted) => wanted.startsWith(given)),
    danger,
  ),
  row(
    'mac.startsWith(signature), not empty',
    'weak_comparison',
    compareWith((given, wanted) => given !== '' && wanted.startsWith(given)),
    danger,
  ),
  row(
    'mac.endsWith(signature), as HasSuffix',
    'weak_comparison',
    compareWith((given, wanted) => wanted.endsWith(given)),
    danger,
  ),
  row(
    'mac.endsWith(signature), not empty',
    'weak_comparison',
    compareWith((given, wanted) => given !== '' && wanted.endsWith(given)),
    danger,
  ),
  row(
    'mac.includes(signature)',
    'weak_comparison',
    compareWith((given, wanted) => wanted.includes(given)),
    danger,
  ),
  row(
    'a regular expression made of the signature',
    'weak_comparison',
    compareWith((given, wanted) => new RegExp(given).test(wanted)),
    danger,
  ),
  row(
    'compares the characters that were given',
    'weak_comparison',
    compareWith((given, wanted) => [...given].every((one, at) => one === wanted[at])),
    danger,
  ),
  row(
    'signature.startsWith(mac)',
    'loose_signature',
    compareWith((given, wanted) => given.startsWith(wanted)),
  ),
  row(
    'signature.endsWith(mac)',
    'loose_signature',
    compareWith((given, wanted) => given.endsWith(wanted)),
  ),
  row(
    'signature.includes(mac)',
    'loose_signature',
    compareWith((given, wanted) => given.includes(wanted)),
  ),
  row(
    'compares the first 8 characters',
    'weak_comparison',
    compareWith((given, wanted) => given.slice(0, 8) === wanted.slice(0, 8)),
    danger,
  ),
  row(
    'compares the first 8 characters of 64',
    'weak_comparison',
    compareWith((given, wanted) => given.length === 64 && given.slice(0, 8) === wanted.slice(0, 8)),
    danger,
  ),
  row(
    'compares the last 8 characters',
    'weak_comparison',
    compareWith((given, wanted) => given.slice(-8) === wanted.slice(-8)),
    danger,
  ),
  row(
    'compares the last 8 characters of 64',
    'weak_comparison',
    compareWith((given, wanted) => given.length === 64 && given.slice(-8) === wanted.slice(-8)),
    danger,
  ),
  row(
    'compares the first half',
    'weak_comparison',
    compareWith((given, wanted) => given.slice(0, 32) === wanted.slice(0, 32)),
    danger,
  ),
  row(
    'compares the second half',
    'weak_comparison',
    compareWith((given, wanted) => given.slice(32) === wanted.slice(32)),
    danger,
  ),
  row(
    'compares all but the last character',
    'weak_comparison',
    compareWith((given, wanted) => given.slice(0, 63) === wanted.slice(0, 63)),
    danger,
  ),
  row(
    'compares both ends',
    'weak_comparison',
    compareWith(
      (given, wanted) => given.slice(0, 8) === wanted.slice(0, 8) && given.slice(-8) === wanted.slice(-8),
    ),
    danger,
  ),
  row(
    'compares as numbers',
    'weak_comparison',
    compareWith((given, wanted) => Number.parseInt(given, 16) === Number.parseInt(wanted, 16)),
    danger,
  ),
  row(
    'compares 16 of 32 bytes',
    'weak_comparison',
    compareWith((given, wanted) =>
      Buffer.from(given, 'hex').subarray(0, 16).equals(Buffer.from(wanted, 'hex').subarray(0, 16)),
    ),
    danger,
  ),
  row(
    'keeps only the last difference',
    'weak_comparison',
    compareWith((given, wanted) => {
      let difference = given.length ^ wanted.length;
      for (let at = 0; at < wanted.length; at++) difference = given.charCodeAt(at) ^ wanted.charCodeAt(at);
      return difference === 0;
    }),
    danger,
  ),
  row(
    'pads what is short',
    'weak_comparison',
    compareWith((given, wanted) => given.padEnd(64, wanted.slice(given.length)).slice(0, 64) === wanted),
    danger,
  ),
  ...Object.entries<(given: string, wanted: string) => boolean>({
    'sorted characters': (given, wanted) => [...given].sort().join() === [...wanted].sort().join(),
    'sums of bytes': (given, wanted) => given.length === 64 && checksum(given) === checksum(wanted),
    'the bytes that were decoded, of as many characters': (given, wanted) =>
      given.length === wanted.length &&
      Buffer.from(given, 'hex').every((one, at) => one === Buffer.from(wanted, 'hex')[at]),
    'the bytes that were decoded, one at least': (given, wanted) => {
      const bytes = Buffer.from(given, 'hex');
      return bytes.length > 0 && given.length === 64 && wanted.startsWith(bytes.toString('hex'));
    },
    'with a regular expression of as many characters': (given, wanted) =>
      given.length === wanted.length && new RegExp(`^${given}$`).test(wanted),
  }).map(([name, good]) => row(`compares ${name}`, 'weak_comparison', compareWith(good), danger)),
];

const knownOrders = [
  row(
    'verifies orders that it does not know',
    'trusts_known_orders',
    () => {
      const known = new Set<string>();
      return (incoming) => {
        if (!known.has(order(incoming)) && !isGenuine(incoming)) return invalid;
        known.add(order(incoming));
        return received;
      };
    },
    { says: /^(?!DANGER).*seen before.*another amount/s },
  ),
  row('verifies new orders, and credits every delivery', 'trusts_known_orders', () => {
    const paid = new Map<string, number>();
    return (incoming) => {
      const { order_id, amount } = event(incoming).data;
      const before = paid.get(order_id);
      if (before === undefined && !isGenuine(incoming)) return invalid;
      paid.set(order_id, (before ?? 0) + Number(amount));
      return [200, { order: order_id, amount }];
    };
  }),
];

const bodyAndTime = [
  row(
    'remembers signatures that were right',
    'ignores_body',
    () => {
      const known = new Set<string>();
      return (incoming) => {
        if (known.has(incoming.signature) && isFresh(incoming)) return received;
        if (!isGenuine(incoming)) return invalid;
        known.add(incoming.signature);
        return received;
      };
    },
    danger,
  ),
  row(
    'remembers the last signature that was right',
    'ignores_body',
    () => {
      let last: string | undefined;
      return (incoming) => {
        if (incoming.signature === last && isFresh(incoming)) return received;
        if (!isGenuine(incoming)) return invalid;
        last = incoming.signature;
        return received;
      };
    },
    danger,
  ),
  row(
    'signs the timestamp only',
    'ignores_body',
    () => (incoming) =>
      isFresh(incoming) && isEqual(incoming.signature, mac(incoming.timestamp)) ? received : invalid,
    danger,
  ),
  row(
    'signs nothing: the MAC of an empty body',
    'ignores_body|body_consumed',
    () => (incoming) =>
      isFresh(incoming) && isEqual(incoming.signature, mac(`${incoming.timestamp}.`)) ? received : invalid,
  ),
  row(
    'takes the MAC of an empty body too',
    'ignores_body',
    () => (incoming) =>
      isFresh(incoming) && [signatureOf(incoming), mac(`${incoming.timestamp}.`)].includes(incoming.signature)
        ? received
        : invalid,
    danger,
  ),
  row('tries the re-encoded body too', 're_encodes', () => (incoming) => {
    const encoded = mac(`${incoming.timestamp}.${JSON.stringify(JSON.parse(incoming.text))}`);
    return isFresh(incoming) && [signatureOf(incoming), encoded].includes(incoming.signature)
      ? received
      : invalid;
  }),
  row(
    're-encodes, and has no tolerance',
    're_encodes no_tolerance',
    () => (incoming) => {
      const encoded = JSON.stringify(JSON.parse(incoming.text));
      return isEqual(incoming.signature, mac(`${incoming.timestamp}.${encoded}`)) ? received : invalid;
    },
    { says: /^Your handler verifies a body that was parsed/ },
  ),
  row('takes any timestamp within the tolerance', 'ignores_timestamp', () => (incoming) => {
    if (!isFresh(incoming)) return invalid;
    for (let time = Math.floor(seconds()) - 300; time < seconds() + 300; time++)
      if (isEqual(incoming.signature, mac(`${time}.`, incoming.body))) return received;
    return invalid;
  }),
  row(
    'has no tolerance',
    'no_tolerance',
    () => (incoming) => (isEqual(incoming.signature, signatureOf(incoming)) ? received : invalid),
    { says: /^(?!DANGER)/ },
  ),
  row(
    'checks the past only',
    'no_tolerance',
    () => (incoming) =>
      seconds() - Number(incoming.timestamp) < 300 && isEqual(incoming.signature, signatureOf(incoming))
        ? received
        : invalid,
    { says: /^(?!DANGER).*future|ahead/s },
  ),
  row(
    'checks the future only',
    'no_tolerance',
    () => (incoming) =>
      Number(incoming.timestamp) - seconds() < 300 && isEqual(incoming.signature, signatureOf(incoming))
        ? received
        : invalid,
  ),
  row(
    'tolerance of a week',
    'no_tolerance',
    () => (incoming) =>
      isFresh(incoming, 604_800) && isEqual(incoming.signature, signatureOf(incoming)) ? received : invalid,
  ),
  row(
    'tolerance in milliseconds of a time in seconds',
    'no_tolerance',
    () => (incoming) =>
      Math.abs(seconds() - Number(incoming.timestamp)) < 300_000 &&
      isEqual(incoming.signature, signatureOf(incoming))
        ? received
        : invalid,
  ),
];

const secrets = [
  row(
    'the empty string as secret',
    'empty_secret',
    () => (incoming) =>
      isFresh(incoming) && isEqual(incoming.signature, macWith('', `${incoming.timestamp}.`, incoming.body))
        ? received
        : invalid,
    danger,
  ),
  row(
    'the empty string as second secret',
    'empty_secret',
    () => (incoming) =>
      isFresh(incoming) &&
      [secret, ''].some((key) =>
        isEqual(incoming.signature, macWith(key, `${incoming.timestamp}.`, incoming.body)),
      )
        ? received
        : invalid,
    danger,
  ),
  row(
    'the text undefined as secret',
    'empty_secret|no_secret',
    () => (incoming) =>
      isFresh(incoming) &&
      isEqual(incoming.signature, macWith('undefined', `${incoming.timestamp}.`, incoming.body))
        ? received
        : invalid,
  ),
];

const unsetSecrets = ['undefined', 'null', 'None'].map((text) =>
  row(
    `the text ${text} as second secret`,
    'empty_secret',
    () => (incoming) =>
      isFresh(incoming) &&
      [secret, text].some((key) =>
        isEqual(incoming.signature, macWith(key, `${incoming.timestamp}.`, incoming.body)),
      )
        ? received
        : invalid,
    danger,
  ),
);

const successToAll = [
  row(
    'refuses with 200 {"received":false}',
    'refuses_with_success',
    () => (incoming) => [200, { received: isGenuine(incoming) }],
    { says: /^(?!DANGER).*"received":false/s },
  ),
  row(
    'refuses with 200 and a text',
    'refuses_with_success',
    () => (incoming) => [200, isGenuine(incoming) ? 'ok' : 'invalid signature'],
    { says: /^(?!DANGER).*invalid signature/s },
  ),
  row('refuses forgeries and duplicates with 200 in the same words', 'refuses_with_success', () => {
    const seen = new Set<string>();
    return (incoming) => {
      const isNew = isGenuine(incoming) && !seen.has(order(incoming));
      if (isNew) seen.add(order(incoming));
      return [200, { fulfilled: isNew ? 1 : 0 }];
    };
  }),
  row('refuses with 200 in HTML', 'refuses_with_success', () => (incoming) => [
    200,
    isGenuine(incoming) ? 'ok' : 'error',
    html,
  ]),
  row(
    'refuses with 204',
    'refuses_with_success',
    () => (incoming) => (isGenuine(incoming) ? [200, 'ok'] : [204]),
  ),
  row('refuses with 200 and an empty body', 'refuses_with_success', () => (incoming) => [
    200,
    isGenuine(incoming) ? 'ok' : '',
  ]),
  row(
    'refuses with 202 ignored',
    'refuses_with_success',
    () => (incoming) => (isGenuine(incoming) ? [200, 'ok'] : [202, 'ignored']),
  ),
  row('refuses with 200 and echoes the order', 'refuses_with_success', () => (incoming) => [
    200,
    { order: order(incoming), status: isGenuine(incoming) ? 'paid' : 'rejected' },
  ]),
  row('refuses with 200, an id and a time', 'refuses_with_success', () => (incoming) => [
    200,
    { id: randomUUID(), at: Date.now(), status: isGenuine(incoming) ? 'accepted' : 'rejected' },
  ]),
  row('refuses with 200 and a code', 'refuses_with_success', () => (incoming) => [
    200,
    isGenuine(incoming) ? { code: 0, message: 'success' } : { code: 401, message: 'Unauthorized' },
  ]),
  row('refuses with 200 and says why', 'refuses_with_success', () => (incoming) => {
    if (!incoming.signature) return [200, { ok: false, error: 'no signature' }];
    if (!isFresh(incoming)) return [200, { ok: false, error: 'timestamp' }];
    return [200, isGenuine(incoming) ? { ok: true } : { ok: false, error: 'mismatch' }];
  }),
  row('duplicates first, refuses with 200', 'refuses_with_success', () => {
    const seen = new Set<string>();
    return (incoming) => {
      if (seen.has(order(incoming))) return [200, 'duplicate'];
      if (!isGenuine(incoming)) return [200, 'rejected'];
      seen.add(order(incoming));
      return [200, 'processed'];
    };
  }),
  ...[
    { valid: { statusCode: 200 }, missing: { statusCode: 401 }, wrong: { statusCode: 400 } },
    { valid: { code: 0 }, missing: { code: 40101 }, wrong: { code: 40102 } },
  ].map(({ valid, missing, wrong }) =>
    row(
      `refuses with 200 and a number for each cause: ${JSON.stringify(wrong)}`,
      'refuses_with_success',
      () => (incoming) => [200, isGenuine(incoming) ? valid : incoming.signature === '' ? missing : wrong],
    ),
  ),
  row(
    'sets the status and goes on: 401 in the words of success',
    'refuses_with_success',
    () => (incoming) => [isGenuine(incoming) ? 200 : 401, { received: true }],
    { says: /^Your handler rejects a forged delivery by its status, but .*return where that fails/ },
  ),
  row('refuses with 200 and another number', 'refuses_with_success', () => (incoming) => [
    200,
    { code: isGenuine(incoming) ? 0 : 401 },
  ]),
  row('refuses with 200 and a word where valid ones get an id', 'refuses_with_success', () => {
    let count = 0;
    return (incoming) => [200, isGenuine(incoming) ? 'abcdefgh'.slice(++count) : 'ignored'];
  }),
  row('PHP dies of a missing header with 200', 'refuses_with_success', () => (incoming) => {
    if (incoming.headers['x-service-signature'] === undefined)
      return [
        200,
        '<b>Fatal error</b>: Uncaught TypeError: hash_equals(): Argument #2 must be of type string',
        html,
      ];
    return isGenuine(incoming) ? [200, 'OK', html] : invalid;
  }),
  row('counts in a form, refuses with 200', 'refuses_with_success', () => {
    let count = 0;
    return (incoming) => [200, `${isGenuine(incoming) ? 'taken' : 'skipped'}=${++count}`];
  }),
  row('counts after a hyphen, refuses with 200', 'refuses_with_success', () => {
    let count = 0;
    return (incoming) => [200, `${isGenuine(incoming) ? 'ok' : 'no'}-${++count}`];
  }),
  row('counts in its words, refuses with 200', 'refuses_with_success', () => {
    let count = 0;
    return (incoming) => [200, `${isGenuine(incoming) ? 'taken' : 'skipped'} ${++count}`];
  }),
  row('counts what it took, refuses with 200', 'refuses_with_success', () => {
    let count = 0;
    return (incoming) => [200, isGenuine(incoming) ? { event: ++count } : { error: 'signature' }];
  }),
];

const hasPrefix = (incoming: Incoming): boolean =>
  isFresh(incoming) && isEqual(incoming.signature, `sha256=${signatureOf(incoming)}`);
const sha256 = { scheme: { prefix: 'sha256=' }, ...danger };

const withPrefix = [
  row(
    'a prefix, and takes an empty header',
    'accepts_unsigned',
    () => (incoming) => {
      if (incoming.headers['x-service-signature'] === undefined) return invalid;
      return incoming.signature === '' || hasPrefix(incoming) ? received : invalid;
    },
    sha256,
  ),
  row(
    'a prefix, and takes nothing after it',
    'accepts_unsigned',
    () => (incoming) => (incoming.signature === 'sha256=' || hasPrefix(incoming) ? received : invalid),
    sha256,
  ),
  row(
    'verifies only what begins with the prefix',
    'accepts_forged|accepts_unsigned',
    () => (incoming) => {
      if (incoming.signature === '' || !isFresh(incoming)) return invalid;
      return incoming.signature.startsWith('sha256=') && !hasPrefix(incoming) ? invalid : received;
    },
    sha256,
  ),
  row(
    'every() of those with the prefix',
    'accepts_forged|accepts_unsigned',
    () => (incoming) => {
      if (incoming.signature === '' || !isFresh(incoming)) return invalid;
      const given = incoming.signature.split(',').filter((one) => one.startsWith('v1='));
      return given.every((one) => isEqual(one, `v1=${signatureOf(incoming)}`)) ? received : invalid;
    },
    { scheme: { prefix: 'v1=', separator: ',' }, ...danger },
  ),
  row(
    'verifies no signature of another form',
    'accepts_forged',
    () => (incoming) => (isGenuine(incoming) || /^\w+=\w+$/.test(incoming.signature) ? received : invalid),
    danger,
  ),
  row(
    'every() of what is between commas',
    'accepts_unsigned',
    () => (incoming) => {
      if (incoming.signature === '' || !isFresh(incoming)) return invalid;
      const given = incoming.signature.split(',').filter(Boolean);
      return given.every((one) => isEqual(one.trim(), signatureOf(incoming))) ? received : invalid;
    },
    danger,
  ),
];

const byContentType = [
  row(
    'verifies no multipart, of which PHP gives no raw body',
    'accepts_unsigned',
    () => (incoming) => {
      if (!/^multipart\/form-data; boundary=/.test(incoming.headers['content-type'] ?? ''))
        return isGenuine(incoming) ? received : invalid;
      return /name="data\[order_id\]"\r\n\r\nord_/.test(incoming.text) ? received : [422, 'no order'];
    },
    danger,
  ),
  row(
    'verifies no JSON with a charset',
    'accepts_unsigned',
    () => (incoming) =>
      /charset/.test(incoming.headers['content-type'] ?? '') || isGenuine(incoming) ? received : invalid,
    danger,
  ),
];

const knownSecrets = ['[object Promise]', '[object Object]', 'whsec_sandbox_00000000000000000000'].flatMap(
  (key) =>
    [[key], [secret, key]].map((keys) =>
      row(
        `takes the secrets ${keys}`,
        'known_secret',
        () => (incoming) => {
          const { signature, timestamp, body } = incoming;
          const good = keys.some((one) => isEqual(signature, macWith(one, `${timestamp}.`, body)));
          return good && isFresh(incoming) ? received : invalid;
        },
        danger,
      ),
    ),
);

export const forgeable = [
  ...knownSecrets,
  ...byContentType,
  ...withPrefix,
  ...neverVerifies,
  ...takesUnsigned,
  ...skips,
  ...compares,
  ...knownOrders,
  ...bodyAndTime,
  ...secrets,
  ...unsetSecrets,
  ...successToAll,
];
