import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
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
} from './kit.js';

/** A right receiver but for the text that it expects to be signed. */
const verifySigned =
  (
    text: (incoming: Incoming) => (string | Buffer)[],
    key: string | Buffer = secret,
    bad: Answer = invalid,
  ): (() => Receiver) =>
  () =>
  (incoming) =>
    isFresh(incoming) && isEqual(incoming.signature, macWith(key, ...text(incoming))) ? received : bad;

const keyOf = (key: string | Buffer) => verifySigned(({ timestamp, body }) => [`${timestamp}.`, body], key);

/** A right receiver but for the signature that it expects. */
const verifyAgainst =
  (wanted: (incoming: Incoming) => string): (() => Receiver) =>
  () =>
  (incoming) =>
    isFresh(incoming) && isEqual(incoming.signature, wanted(incoming)) ? received : invalid;

/** A right receiver that takes a delivery of some age in seconds. */
const verifyAge =
  (takes: (age: number) => boolean, bad: Answer = [400, 'Bad Request']): (() => Receiver) =>
  () =>
  (incoming) =>
    takes(seconds() - Number(incoming.timestamp)) && isEqual(incoming.signature, signatureOf(incoming))
      ? received
      : bad;

/** A right receiver whose clock is off. */
const verifyWithClockOff = (hours: number, bad?: Answer, tolerance = 300): (() => Receiver) =>
  verifyAge((age) => Math.abs(age + hours * 3600) <= tolerance, bad);

/** A right receiver that gives one response only after some forgeries. */
const blockAfter =
  (forgeries: number, blocked: Answer): (() => Receiver) =>
  () => {
    let left = forgeries;
    return (incoming) => {
      if (left <= 0) return blocked;
      if (isGenuine(incoming)) return received;
      left -= 1;
      return invalid;
    };
  };

/** Responds alike to everything. */
const alwaysAnswer =
  (...answer: [number, (string | object)?, Record<string, string>?]): (() => Receiver) =>
  () =>
  () =>
    answer;

/** Responds to what it verified. */
const verifyThenAnswer =
  (answer: (incoming: Incoming) => Answer): (() => Receiver) =>
  () =>
  (incoming) =>
    isGenuine(incoming) ? answer(incoming) : invalid;

const pythonJson = (text: string): string =>
  JSON.stringify(JSON.parse(text), null, 1)
    .replaceAll(/\n\s*/g, ' ')
    .replaceAll('{ ', '{')
    .replaceAll(' }', '}');

const bodies = [
  row(
    're-encodes as JSON.stringify does',
    're_encodes',
    verifySigned(({ timestamp, text }) => [`${timestamp}.${JSON.stringify(JSON.parse(text))}`]),
  ),
  row(
    're-encodes as json.dumps does',
    're_encodes',
    verifySigned(({ timestamp, text }) => [`${timestamp}.${pythonJson(text)}`]),
  ),
  row(
    're-encodes with the outer keys sorted',
    'secret_or_scheme',
    verifySigned(({ timestamp, text }) => {
      const { data, ...rest } = JSON.parse(text);
      return [`${timestamp}.${JSON.stringify({ data, ...rest })}`];
    }),
  ),
  row(
    're-encodes with all keys sorted',
    're_encodes',
    verifySigned(({ timestamp, text }) => {
      const { type, data } = JSON.parse(text);
      return [
        `${timestamp}.${JSON.stringify({ data: Object.fromEntries(Object.entries(data).sort()), type })}`,
      ];
    }),
  ),
  row(
    're-encodes, and says what it verified',
    're_encodes',
    () => (incoming) => {
      const body = JSON.stringify(JSON.parse(incoming.text));
      if (isFresh(incoming) && isEqual(incoming.signature, mac(`${incoming.timestamp}.`, body)))
        return received;
      const sha256 = createHash('sha256').update(body).digest('hex');
      return [400, { error: 'signature_mismatch', bytes: Buffer.byteLength(body), sha256 }];
    },
    { says: /We sent \d+ bytes, your handler verified \d+\./ },
  ),
  row(
    'passes a parsed object to the HMAC, under Express',
    'parsed_object',
    alwaysAnswer(500, 'TypeError: The "data" argument must be of type string or an instance of Buffer.', {
      'x-powered-by': 'Express',
    }),
    { says: /express\.raw\(\{ type: 'application\/json' \}\)/ },
  ),
  row('passes a parsed object to the HMAC', 'parsed_object', () => (incoming) => {
    const body = JSON.parse(incoming.text);
    createHmac('sha256', secret).update(body);
    return received;
  }),
  row(
    'makes a text of a parsed object',
    'parsed_object',
    verifySigned(({ timestamp, text }) => [`${timestamp}.${JSON.parse(text)}`]),
  ),
  row(
    'reads a body that something read before',
    'body_consumed',
    verifySigned(({ timestamp }) => [`${timestamp}.`]),
  ),
  row('fails to read a body that something read before', 'body_consumed', () => () => {
    throw new TypeError('Body is unusable: Body has already been read');
  }),
  ...(
    [
      ['$_POST of PHP', 'body_consumed', () => '[]'],
      ['an array of PHP as text', 'parsed_object', () => 'Array'],
      ['a dict of Python as text', 'parsed_object', (text: string) => pythonJson(text).replaceAll('"', "'")],
      [
        'a hash of Ruby as text',
        'parsed_object',
        (text: string) => pythonJson(text).replaceAll('": ', '" => '),
      ],
      ['bytes of Python as text', 're_encodes', (text: string) => `b'${text}'`],
    ] as const
  ).map(([name, verdict, made]) =>
    row(
      `verifies ${name}`,
      verdict,
      verifySigned(({ timestamp, text }) => [`${timestamp}.${made(text)}`]),
    ),
  ),
  row(
    'trims',
    'trims',
    verifySigned(({ timestamp, text }) => [`${timestamp}.${text.trim()}`]),
  ),
  row(
    'trims, and decodes as Latin-1',
    'trims wrong_charset',
    verifySigned(({ timestamp, body }) => [`${timestamp}.${body.toString('latin1').trim()}`]),
    { says: /And 1 more, below/ },
  ),
  row(
    'decodes as Latin-1',
    'wrong_charset',
    verifySigned(({ timestamp, body }) => [`${timestamp}.${body.toString('latin1')}`]),
  ),
  row(
    'decodes as ASCII',
    'wrong_charset',
    verifySigned(({ timestamp, body }) => [`${timestamp}.${body.toString('ascii')}`]),
  ),
  row(
    'drops what is not ASCII',
    'wrong_charset',
    verifySigned(({ timestamp, text }) => [
      `${timestamp}.${[...text].filter((one) => one < '\u0080').join('')}`,
    ]),
  ),
  row(
    're-encodes, and refuses in HTML',
    're_encodes',
    verifySigned(({ timestamp, text }) => [`${timestamp}.${JSON.stringify(JSON.parse(text))}`], secret, [
      400,
      '<h1>Bad Request</h1>',
      html,
    ]),
  ),
];

const secrets = [
  ...[
    'Payment webhook rejected: unknown signature',
    'HMAC mismatch - no order was updated',
    'A valid signature is required',
    'Signature not present or did not match',
    'invalid or expired webhook',
    'clock skew or bad secret',
    'no configured secret verifies this payload',
    'Signature does not match: possible request forgery',
  ].map((words) => row(`another secret, and says "${words}"`, 'secret_or_scheme', alwaysAnswer(400, words))),
  row(
    'another secret, says bad signature, and challenges as a login does',
    'secret_or_scheme',
    alwaysAnswer(401, 'bad signature', { 'www-authenticate': 'Bearer' }),
  ),
  row('no secret: the HMAC throws', 'no_secret', () => () => {
    createHmac('sha256', process.env.A_SECRET_THAT_NOBODY_SET as string);
    return received;
  }),
  row('no secret: says so with 503', 'no_secret', alwaysAnswer(503, { error: 'webhook secret is not set' })),
  row('no secret: says so', 'no_secret', alwaysAnswer(500, { error: 'WEBHOOK_SECRET is not configured' })),
  row('another secret', 'secret_or_scheme', keyOf('whsec_something_else'), {
    says: /^Your handler rejects every valid delivery, and nothing that was tried explains it: its secret is probably not the one .* nothing else until .*None of \d+ other/s,
  }),
  row(
    'another secret, and shows the uncaught error of verify() with 500',
    'secret_or_scheme',
    verifySigned(({ timestamp, body }) => [`${timestamp}.`, body], 'whsec_x', [
      500,
      '<pre>WebhookVerificationError: The signature does not match.</pre>',
      html,
    ]),
    { says: /^Your handler rejects every valid delivery, .*: its secret is probably not the one/ },
  ),
  row(
    'another secret, and throws without words',
    'handler_failed',
    verifySigned(({ timestamp, body }) => [`${timestamp}.`, body], 'whsec_x', [500, 'Internal Server Error']),
    { says: /Its secret may not be the one that signs these deliveries/ },
  ),
  row(
    'another secret, and refuses with 200 {"received":false}',
    'refuses_with_success',
    verifySigned(({ timestamp, body }) => [`${timestamp}.`, body], 'whsec_x', [200, { received: false }]),
    { says: /If they mean refused, its secret is probably not the one/ },
  ),
  row(
    'another secret, and responds to what it refuses as to anything',
    'answers_before_verifying',
    () => {
      const refuse = verifySigned(({ timestamp, body }) => [`${timestamp}.`, body], 'whsec_x', [
        200,
        'ignored',
      ])();
      return (incoming) => (incoming.path === '/webhooks' ? refuse(incoming) : [404]);
    },
    { says: /If this response is its refusal, its secret is not the one/ },
  ),
  row("the sandbox's secret, not the doctor's", 'known_secret', keyOf('whsec_sandbox_00000000000000000000'), {
    says: /has the sandbox's published secret, not the one .* give the doctor the same secret/s,
  }),
  row('a newline after the secret', 'altered_secret', keyOf(`${secret}\n`)),
  row('a space before the secret', 'altered_secret', keyOf(` ${secret}`)),
  row('quotation marks around the secret', 'altered_secret', keyOf(`"${secret}"`)),
  row('single quotation marks around the secret', 'altered_secret', keyOf(`'${secret}'`)),
  row('lost the prefix of the secret', 'altered_secret', keyOf(secret.replace('whsec_', ''))),
  row(
    'decodes the secret as base64',
    'other_scheme',
    keyOf(Buffer.from(secret.replace('whsec_', ''), 'base64')),
    { expects: { secretEncoding: 'base64' } },
  ),
  row('decodes the secret as hex', 'other_scheme', keyOf(Buffer.from(secret.replace('whsec_', ''), 'hex'))),
  row('half of the secret', 'secret_or_scheme', keyOf(secret.slice(0, 12))),
  row('another secret, and no tolerance', 'secret_or_scheme', () => (incoming) => {
    const wanted = macWith('whsec_another', `${incoming.timestamp}.`, incoming.body);
    return isEqual(incoming.signature, wanted) ? received : invalid;
  }),
  row(
    'another secret, plain 400',
    'secret_or_scheme',
    verifySigned(({ timestamp, body }) => [`${timestamp}.`, body], 'whsec_x', [400, 'Bad Request']),
  ),
];

const schemes = [
  row(
    'the body alone',
    'other_scheme',
    verifySigned(({ body }) => [body]),
    { expects: { content: '{body}' } },
  ),
  row(
    'a colon',
    'other_scheme',
    verifySigned(({ timestamp, body }) => [`${timestamp}:`, body]),
  ),
  row(
    'no delimiter',
    'other_scheme',
    verifySigned(({ timestamp, body }) => [timestamp, body]),
    { expects: { content: '{timestamp}{body}' }, says: /timestamp in Unix seconds/ },
  ),
  row(
    'no delimiter, and milliseconds',
    'other_scheme',
    () => (incoming) =>
      Math.abs(Date.now() - Number(incoming.timestamp)) < 300_000 &&
      isEqual(incoming.signature, mac(incoming.timestamp, incoming.body))
        ? received
        : invalid,
    { says: /timestamp in Unix milliseconds/ },
  ),
  row(
    'body, then timestamp',
    'other_scheme|secret_or_scheme',
    verifySigned(({ timestamp, body }) => [body, '.', timestamp]),
  ),
  row(
    'v0 as Slack',
    'other_scheme',
    verifyAgainst(({ timestamp, body }) => `v0=${mac(`v0:${timestamp}:`, body)}`),
  ),
  row(
    'sha256= as GitHub',
    'other_scheme',
    verifyAgainst(({ body }) => `sha256=${mac(body)}`),
    { expects: { content: '{body}', prefix: 'sha256=' } },
  ),
  row(
    'base64, and throws on any other length',
    'other_scheme',
    () => (incoming) => {
      const wanted = Buffer.from(signatureOf(incoming), 'hex').toString('base64');
      const isRight = timingSafeEqual(Buffer.from(incoming.signature), Buffer.from(wanted));
      return isFresh(incoming) && isRight ? received : invalid;
    },
    { expects: { encoding: 'base64' } },
  ),
  row(
    'base64 of the body, as Shopify',
    'other_scheme',
    verifyAgainst(({ body }) => createHmac('sha256', secret).update(body).digest('base64')),
  ),
  row(
    'v1, and base64',
    'other_scheme',
    verifyAgainst(
      ({ timestamp, body }) =>
        `v1,${createHmac('sha256', secret).update(`${timestamp}.`).update(body).digest('base64')}`,
    ),
  ),
  row(
    'SHA-1',
    'secret_or_scheme|other_scheme',
    verifyAgainst(({ timestamp, body }) =>
      createHmac('sha1', secret).update(`${timestamp}.`).update(body).digest('hex'),
    ),
  ),
  row(
    'SHA-512',
    'secret_or_scheme|other_scheme',
    verifyAgainst(({ timestamp, body }) =>
      createHmac('sha512', secret).update(`${timestamp}.`).update(body).digest('hex'),
    ),
  ),
  row(
    'a hash without a key',
    'secret_or_scheme|other_scheme',
    verifyAgainst(({ timestamp, body }) => mac(`${timestamp}.`, body, secret)),
  ),
  row(
    'a static token',
    'secret_or_scheme|access_check',
    () => (incoming) => (incoming.signature === 'a-token' ? received : [401, 'Unauthorized']),
  ),
  row(
    'upper-case hex only',
    'other_scheme|secret_or_scheme',
    verifyAgainst((incoming) => signatureOf(incoming).toUpperCase()),
  ),
];

const times = [
  row('says that the timestamp is too old', 'wrong_clock', alwaysAnswer(400, { error: 'timestamp_too_old' })),
  row('says that the timestamp is ahead', 'wrong_clock', alwaysAnswer(400, { error: 'timestamp_in_future' })),
  row(
    'reads the timestamp as milliseconds',
    'wrong_time_unit',
    () => (incoming) =>
      Math.abs(Date.now() - Number(incoming.timestamp)) < 300_000 &&
      isEqual(incoming.signature, signatureOf(incoming))
        ? received
        : invalid,
    { expects: {} },
  ),
  row(
    'reads the timestamp as milliseconds, plain 400',
    'wrong_time_unit',
    () => (incoming) =>
      Math.abs(Date.now() - Number(incoming.timestamp)) < 300_000 &&
      isEqual(incoming.signature, signatureOf(incoming))
        ? received
        : [400, 'Bad Request'],
  ),
  row(
    'expects ISO 8601',
    'other_scheme|wrong_time_unit',
    () => (incoming) =>
      /^\d{4}-/.test(incoming.timestamp) &&
      Math.abs(Date.now() - Date.parse(incoming.timestamp)) < 300_000 &&
      isEqual(incoming.signature, signatureOf(incoming))
        ? received
        : invalid,
    { expects: { timestamp: 'iso8601' } },
  ),
  ...[90, 150, 345, 525, 570, 765, 825, 840, -150, -210, -345, -570, -720].map((minutes) =>
    row(
      `clock off by ${minutes} minutes, tolerance of a minute`,
      'wrong_clock',
      verifyWithClockOff(minutes / 60, undefined, 60),
      {
        says: new RegExp(
          Math.floor(Math.abs(minutes) / 60) +
            (minutes % 60 ? ` hours? ${Math.abs(minutes % 60)} minutes ` : ' hours ') +
            (minutes > 0 ? 'ahead' : 'behind'),
        ),
      },
    ),
  ),
  ...[90, 700].map((minutes) =>
    row(`clock off by ${minutes} minutes`, 'wrong_clock', verifyWithClockOff(minutes / 60)),
  ),
  // No zone is that far off, and nothing that was tried explains it.
  ...[10, -10, 197, -53, -1440].map((minutes) =>
    row(
      `clock off by ${minutes} minutes, which is no time zone`,
      'secret_or_scheme',
      verifyWithClockOff(minutes / 60),
      {
        says: /nothing that was tried explains it.*its clock is right/s,
      },
    ),
  ),
  row(
    'clock off by 197 minutes, tolerance of a minute, and says so',
    'wrong_clock',
    verifyWithClockOff(197 / 60, [400, { error: 'timestamp outside of tolerance' }], 60),
    { says: /by an unknown amount, or it has too short a tolerance/ },
  ),
  row(
    'clock three days fast, looked at after the signature',
    'wrong_clock',
    () => (incoming) => {
      if (!isEqual(incoming.signature, signatureOf(incoming))) return invalid;
      return isFresh({ ...incoming, timestamp: `${Number(incoming.timestamp) - 259_200}` })
        ? received
        : [400, 'too old'];
    },
    { says: /by an unknown amount/ },
  ),
  row(
    'refuses whatever is older than now',
    'wrong_tolerance',
    verifyAge((age) => age <= 0),
  ),
  row(
    'refuses whatever is older than now, and says so',
    'wrong_tolerance',
    verifyAge((age) => age <= 0, [400, 'too old']),
    { says: /40 days ahead/ },
  ),
  row(
    'refuses whatever is older than now, or more than 5 minutes ahead',
    'secret_or_scheme',
    verifyAge((age) => age <= 0 && age > -300),
    { says: /its clock is right/ },
  ),
  row(
    'clock 2 hours fast, checks the past only',
    'wrong_tolerance',
    verifyAge((age) => age + 7200 < 300),
    {
      says: /40 days ahead: it compares .*by a clock that is off/,
    },
  ),
  row(
    'clock 20 minutes fast, checks the past only',
    'wrong_tolerance',
    verifyAge((age) => age + 1200 < 300),
    {
      says: /40 days ahead: it compares .*by a clock that is off/,
    },
  ),
  row(
    'clock 3 hours slow, checks the future only',
    'wrong_tolerance',
    verifyAge((age) => age - 10_800 > -300),
    {
      says: /40 days ago: it compares .*by a clock that is off/,
    },
  ),
  row(
    'compares the age the wrong way round',
    'wrong_tolerance',
    verifyAge((age) => age > 300),
    { says: /40 days ago/ },
  ),
  row(
    'compares the difference the wrong way round',
    'wrong_tolerance',
    verifyAge((age) => Math.abs(age) > 300),
  ),
  row('clock 30 minutes slow', 'wrong_clock', verifyWithClockOff(-0.5), { says: /30 minutes/ }),
  row('clock an hour slow', 'wrong_clock', verifyWithClockOff(-1), { says: /1 hour/ }),
  row('clock two hours fast', 'wrong_clock', verifyWithClockOff(2), { says: /2 hours/ }),
  row('clock five and a half hours fast, as in India', 'wrong_clock', verifyWithClockOff(5.5), {
    says: /5\.5 hours|5 hours 30|5½/,
  }),
  row('clock 5:45 fast, as in Nepal', 'wrong_clock', verifyWithClockOff(5.75), {
    says: /5\.75 hours|5 hours 45|5¾/,
  }),
  row('clock 8 hours slow', 'wrong_clock', verifyWithClockOff(-8), { says: /8 hours/ }),
  row('clock 13 hours fast', 'wrong_clock', verifyWithClockOff(13), { says: /13 hours/ }),
  row(
    'clock two hours fast, and says so',
    'wrong_clock',
    verifyWithClockOff(2, [400, { error: 'timestamp too old' }]),
    {
      says: /2 hours/,
    },
  ),
  row(
    'clock two hours slow, a JSON refusal',
    'wrong_clock',
    verifyWithClockOff(-2, [401, { message: 'Unauthorized' }]),
    {
      says: /2 hours/,
    },
  ),
  row(
    'a clock three days slow, and what is no number passes',
    'wrong_clock',
    () => (incoming) =>
      Math.abs(seconds() - 259_200 - Number(incoming.timestamp)) > 300 ||
      !isEqual(incoming.signature, signatureOf(incoming))
        ? [400, 'Bad Request']
        : received,
    { says: /by an unknown amount/ },
  ),
  row(
    'reads the timestamp as milliseconds, and what is no number passes',
    'wrong_time_unit',
    () => (incoming) =>
      Math.abs(Date.now() - Number(incoming.timestamp)) > 300_000 ||
      !isEqual(incoming.signature, signatureOf(incoming))
        ? invalid
        : received,
    { says: /milliseconds/ },
  ),
  row(
    'a clock that stands still since 2024',
    'wrong_clock|secret_or_scheme',
    () => (incoming) =>
      Math.abs(1_704_067_200 - Number(incoming.timestamp)) <= 300 &&
      isEqual(incoming.signature, signatureOf(incoming))
        ? received
        : [400, 'timestamp outside of tolerance'],
  ),
  row('tolerance of zero', 'wrong_clock|secret_or_scheme|no_freshness', () => () => [
    400,
    'timestamp outside of tolerance',
  ]),
];

const headers = [
  row(
    'reads x-signature: 401 no signature',
    'header_lost',
    () =>
      ({ headers }) =>
        headers['x-signature'] === undefined ? [401, { error: 'no signature' }] : received,
    { says: /no signature/ },
  ),
  row(
    'reads x-webhook-signature: 400 Missing signature',
    'header_lost',
    () =>
      ({ headers }) =>
        headers['x-webhook-signature'] === undefined ? [400, 'Missing signature'] : received,
    { says: /Missing signature/ },
  ),
  row(
    'reads x-timestamp: no timestamp',
    'header_lost',
    () =>
      ({ headers }) =>
        headers['x-timestamp'] === undefined ? [400, { message: 'timestamp header missing' }] : received,
    { says: /timestamp header missing/ },
  ),
  row(
    'reads stripe-signature, throws',
    'header_lost|secret_or_scheme|handler_failed',
    () =>
      ({ headers }) => {
        if (headers['stripe-signature'] === undefined)
          throw new Error('Unable to extract timestamp and signatures from header');
        return received;
      },
    { says: /Unable to extract timestamp/ },
  ),
  row(
    'reads another header, plain 401',
    'secret_or_scheme|access_check',
    () =>
      ({ headers }) =>
        headers['x-hub-signature-256'] === undefined ? [401, 'Unauthorized'] : received,
  ),
  row('a proxy drops the signature', 'header_lost', () => (incoming) => {
    const proxied = { ...incoming, signature: '' };
    if (proxied.signature === '') return [400, { error: 'missing_signature' }];
    return isGenuine(proxied) ? received : invalid;
  }),
  row(
    'a proxy repeats the signature',
    'header_lost',
    () => (incoming) =>
      `${incoming.signature}, ${incoming.signature}` === signatureOf(incoming)
        ? received
        : [400, { error: 'duplicate_header' }],
  ),
  row(
    'another secret: no matching signature',
    'secret_or_scheme',
    alwaysAnswer(400, 'No matching signature found'),
  ),
  row(
    'another secret, in the words of a library',
    'secret_or_scheme',
    alwaysAnswer(400, 'No signatures found matching the expected signature for payload'),
  ),
  row(
    'another secret: no valid signature',
    'secret_or_scheme',
    alwaysAnswer(400, { message: 'Signature verification failed: no valid signature' }),
  ),
  row(
    'another secret: no active secret matches',
    'secret_or_scheme',
    alwaysAnswer(400, { error: 'Signature matches no active secret' }),
  ),
  row(
    'another secret: a possible forgery',
    'secret_or_scheme',
    alwaysAnswer(400, 'Signature mismatch: possible forgery, request logged'),
  ),
  ...[
    'Missing or invalid signature',
    'Invalid or missing signature header',
    'The signature is missing, or it is wrong',
    'Signature required/incorrect',
  ].map((words) => row(`another secret: ${words}`, 'secret_or_scheme', alwaysAnswer(401, { error: words }))),
  row('a proxy drops the timestamp', 'header_lost', () => () => [400, { error: 'missing_timestamp' }]),
];

const afterVerifying = [
  row(
    'the database is down',
    'handler_failed',
    verifyThenAnswer(() => [500, 'ECONNREFUSED 127.0.0.1:5432']),
    { says: /then fails\. See its log\.$/m },
  ),
  row(
    'the handler throws',
    'handler_failed',
    verifyThenAnswer(() => {
      throw new Error("Cannot read properties of undefined (reading 'email')");
    }),
    { says: /reading 'email'/ },
  ),
  row(
    'the handler throws, 500 to forgeries too',
    'handler_failed|secret_or_scheme',
    () => (incoming) => {
      if (!isGenuine(incoming)) throw new Error('signature mismatch');
      throw new Error('relation "orders" does not exist');
    },
    { says: /relation "orders"/ },
  ),
  row(
    'does not know the order, and never verifies',
    'handler_failed',
    alwaysAnswer(422, { error: 'unknown order' }),
    { says: /looks the order up before it verifies, or never verifies/ },
  ),
  row(
    'responds 404 to an order that it does not know, and never verifies',
    'handler_failed',
    () => (incoming) => [404, { error: `Order ${order(incoming)} not found` }],
    { says: /looks the order up before it verifies, or never verifies/ },
  ),
  row(
    'checks only that there is a signature, and does not know the order',
    'handler_failed',
    () => (incoming) => [404, incoming.signature ? 'order not found' : 'signature missing'],
    { says: /or never verifies/ },
  ),
  row(
    'PHP shows with status 200 that it failed on what it verified',
    'handler_failed',
    verifyThenAnswer(() => [
      200,
      '<b>Fatal error</b>: Uncaught Error: Call to undefined function fulfil()',
      html,
    ]),
    { says: /fails, and responds with success all the same/ },
  ),
  row(
    'refuses what it verified by an empty 404, and forgeries by an empty 403',
    'handler_failed',
    () => (incoming) => (isGenuine(incoming) ? [404] : [403]),
    { says: /verifies the signature/ },
  ),
  row(
    'refuses an order that was cancelled, and never verifies',
    'secret_or_scheme',
    alwaysAnswer(409, 'already cancelled'),
    { says: /it may never verify/ },
  ),
  row(
    'names the order that does not exist, and never verifies',
    'handler_failed',
    () => (incoming) => [400, `Order ${order(incoming)} does not exist`],
    { says: /or never verifies/ },
  ),
  row(
    'refuses an order that it does not know',
    'handler_failed',
    verifyThenAnswer((incoming) => [404, { error: `unknown order ${order(incoming)}` }]),
    { says: /unknown order/ },
  ),
  row(
    'refuses an amount that differs',
    'handler_failed',
    verifyThenAnswer(() => [422, { error: 'amount does not match' }]),
    { says: /amount does not match/ },
  ),
  row(
    'responds with a redirect to what it verified',
    'redirect|handler_failed',
    verifyThenAnswer(() => [303, '', { location: '/thanks' }]),
  ),
  row(
    'hangs on what it verified',
    'slow',
    verifyThenAnswer(() => 'hang'),
    { patienceMs: 250, says: /^Your handler verifies the delivery, and then does not respond in time/ },
  ),
  row(
    'hangs on letters outside of ASCII',
    'slow',
    verifyThenAnswer(({ text }) => (/[^\0-\x7f]/.test(text) ? 'hang' : received)),
    { patienceMs: 400 },
  ),
  row(
    'crashes on what it verified',
    'handler_failed|connection_lost',
    verifyThenAnswer(() => 'hang up'),
    { says: /^"valid, compact JSON" got .+\. "signed with a different secret" got 400 /m },
  ),
  row(
    'reads the event with a pattern that knows no spaces',
    'handler_failed',
    verifyThenAnswer(({ text }) =>
      /"order_id":"\w+","amount":"/.test(text) ? received : [422, 'no order_id in the event'],
    ),
    { says: /verifies "valid, JSON with uneven spaces", and then.*no order_id/s },
  ),
  row(
    'a parser that takes no newline',
    'handler_failed',
    verifyThenAnswer(({ text }) =>
      text.endsWith('\n') ? [400, { error: 'trailing characters' }] : received,
    ),
    { says: /trailing newline.*trailing characters/s },
  ),
  row(
    'a column that takes no letters outside of ASCII',
    'handler_failed',
    verifyThenAnswer(({ text }) =>
      /[^\0-\x7f]/.test(text) ? [500, "1366 Incorrect string value for column 'payload'"] : received,
    ),
    { says: /non-ASCII.*Incorrect string value/s },
  ),
  row(
    'a column that takes no letters outside of ASCII, 500 to forgeries too',
    'handler_failed',
    () => (incoming) => {
      if (!isGenuine(incoming)) throw new Error('signature mismatch');
      if (/[^\0-\x7f]/.test(incoming.text)) throw new Error('incorrect string value');
      return received;
    },
  ),
  row(
    'crashes on letters outside of ASCII, and hangs up',
    'handler_failed',
    verifyThenAnswer(({ text }) => (/[^\0-\x7f]/.test(text) ? 'hang up' : received)),
  ),
  row('a firewall that takes no letters outside of ASCII', 'handler_failed', () => (incoming) => {
    if (/[^\0-\x7f]/.test(incoming.text)) return [403, '<html>Request blocked by rule 920230</html>', html];
    return isGenuine(incoming) ? received : invalid;
  }),
  row('fails to decode what is not ASCII', 'handler_failed|wrong_charset', () => (incoming) => {
    if (/[^\0-\x7f]/.test(incoming.text)) throw new Error("'ascii' codec can't decode byte 0xc3");
    return isGenuine(incoming) ? received : invalid;
  }),
  row(
    'responds 501 to what it verified',
    'handler_failed',
    verifyThenAnswer(() => [501, 'order.paid is not implemented']),
    { says: /verifies the signature/ },
  ),
  ...[1, 2, 5, 20].map((count) =>
    row(
      `403 to everything after ${count} forgeries`,
      'handler_failed',
      blockAfter(count, [403, 'Forbidden']),
      {
        says: /Something may block the sender.*got 200 .*"the like, later" got 403 "Forbidden"/s,
      },
    ),
  ),
  row(
    'limits the rate of forged deliveries alone',
    'not_tested',
    () => {
      let forged = 0;
      return (incoming) => {
        if (isGenuine(incoming)) return received;
        return ++forged > 5 ? [429, 'Too many requests'] : invalid;
      };
    },
    { says: /valid ones still get through.*"valid again" got 200/s },
  ),
  row(
    'compares the beginning, behind a guard that blocks forgeries after the eighth',
    'not_tested|weak_comparison',
    () => {
      let forged = 0;
      return (incoming) => {
        if (isGenuine(incoming)) return received;
        if (++forged > 8) return [403, 'blocked'];
        return incoming.signature && signatureOf(incoming).startsWith(incoming.signature)
          ? received
          : invalid;
      };
    },
  ),
  row('refuses every signature after 5 forgeries', 'handler_failed', blockAfter(5, invalid)),
  row('hangs up after 5 forgeries', 'handler_failed', blockAfter(5, 'hang up')),
  row('404 to everything after 5 forgeries', 'handler_failed', blockAfter(5, [404, 'Not found'])),
  ...[1, 2, 5].map((count) =>
    row(
      `429 to everything after ${count} forgeries`,
      'rate_limited',
      blockAfter(count, [429, 'Too many requests']),
      {
        says: /or blocks the sender after forged ones.*got 200 .* got 429/s,
      },
    ),
  ),
  row('409 to the second delivery', 'refuses_duplicates', () => {
    const seen = new Set<string>();
    return verifyThenAnswer((incoming) => {
      if (seen.has(order(incoming))) return [409, { error: 'already exists' }];
      seen.add(order(incoming));
      return received;
    })();
  }),
  row(
    '500 to the second delivery',
    'refuses_duplicates',
    () => {
      const seen = new Set<string>();
      return verifyThenAnswer((incoming) => {
        if (seen.has(order(incoming))) throw new Error('UNIQUE constraint failed: orders.id');
        seen.add(order(incoming));
        return received;
      })();
    },
    { says: /UNIQUE constraint/ },
  ),
  row('409 to the second delivery, and re-encodes', 're_encodes refuses_duplicates', () => {
    const seen = new Set<string>();
    return (incoming) => {
      const body = JSON.stringify(JSON.parse(incoming.text));
      if (!isFresh(incoming) || !isEqual(incoming.signature, mac(`${incoming.timestamp}.`, body)))
        return invalid;
      if (seen.has(order(incoming))) return [409, { error: 'already exists' }];
      seen.add(order(incoming));
      return received;
    };
  }),
  row(
    'a strict schema',
    'refuses_new_fields',
    verifyThenAnswer((incoming) => {
      const { type, data, ...rest } = event(incoming) as { type: unknown; data: object };
      const known = Object.keys(data).every((key) => ['order_id', 'amount', 'currency'].includes(key));
      return type && known && Object.keys(rest).length === 0
        ? received
        : [422, { error: 'Unrecognized key' }];
    }),
  ),
  row('a first delivery that fails', '', () => {
    let cold = true;
    return (incoming) => {
      if (!cold) return isGenuine(incoming) ? received : invalid;
      cold = false;
      return [503, 'starting'];
    };
  }),
];

/** The process ends, so that the connections after it are refused. */
const dying = [
  row('dies on the first delivery', 'connection_lost', () => () => 'die', {
    says: /^The server was reached, and then stopped listening/,
  }),
  row(
    'dies on uneven spaces',
    'connection_lost',
    verifyThenAnswer(({ text }) => (text.includes(', ') ? 'die' : received)),
    { says: /stopped listening.*uneven spaces" got socket hang up\. After that: connect ECONNREFUSED/s },
  ),
  row(
    'dies on the last valid delivery',
    'connection_lost',
    verifyThenAnswer(({ text }) => (text.includes('note') ? 'die' : received)),
  ),
  row('trims, and dies on a signature of another length', 'trims connection_lost', () => (incoming) => {
    if (incoming.signature.length % 64 !== 0) return 'die';
    const wanted = mac(`${incoming.timestamp}.${incoming.text.trim()}`);
    return isFresh(incoming) && isEqual(incoming.signature, wanted) ? received : invalid;
  }),
  row('dies on a signature of another length', 'connection_lost', () => (incoming) => {
    if (incoming.signature.length % 64 !== 0) return 'die';
    return isGenuine(incoming) ? received : invalid;
  }),
  row(
    'has another secret, and dies on a signature of another length',
    'connection_lost',
    () =>
      ({ signature }) =>
        signature === '' || signature.length === 64 ? invalid : 'die',
  ),
  row(
    'never verifies, and dies on uneven spaces',
    'accepts_forged|accepts_unsigned connection_lost',
    () =>
      ({ text }) => {
        event({ text } as Incoming);
        return text.includes(', ') ? 'die' : received;
      },
  ),
];

const unreached = [
  row('nothing listens', 'not_listening', alwaysAnswer(200), {
    url: () => 'http://127.0.0.1:9/webhooks',
    says: /127\.0\.0\.1:9/,
  }),
  ...['The plain HTTP request was sent to HTTPS port', 'Client sent an HTTP request to an HTTPS server.'].map(
    (words) =>
      row(`plain HTTP to a TLS port: ${words}`, 'tls', alwaysAnswer(400, words), { says: /use https:/ }),
  ),
  row('TLS to a plain port', 'tls', alwaysAnswer(200), {
    url: (port) => `https://127.0.0.1:${port}/webhooks`,
  }),
  row('hangs up on everything', 'connection_lost', () => () => 'hang up'),
  row('404', 'not_found', alwaysAnswer(404, 'Cannot POST /webhooks', html)),
  row(
    '404 in JSON',
    'not_found',
    alwaysAnswer(404, { message: 'Route POST:/webhooks not found', error: 'Not Found', statusCode: 404 }),
  ),
  row(
    'a 404 page of a shop, which speaks of orders',
    'not_found',
    alwaysAnswer(404, '<p>Looking for your order? This page was not found.</p>', html),
  ),
  row('410', 'not_found', alwaysAnswer(410, 'Gone')),
  row('405', 'wrong_method', alwaysAnswer(405, 'Method Not Allowed', { allow: 'GET' })),
  row(
    '415',
    'content_type',
    alwaysAnswer(415, {
      code: 'FST_ERR_CTP_INVALID_MEDIA_TYPE',
      message: 'Unsupported Media Type: application/json',
    }),
  ),
  row('413', 'too_large', alwaysAnswer(413, '<h1>413 Request Entity Too Large</h1>', html)),
  row('429 to everything', 'rate_limited', alwaysAnswer(429, 'Too many requests')),
  row('30 a minute', 'rate_limited', () => {
    let count = 0;
    return (incoming) => {
      count += 1;
      if (count > 12) return [429, 'Too many requests', { 'retry-after': '60' }];
      return isGenuine(incoming) ? received : invalid;
    };
  }),
  row('a redirect to nowhere', 'redirect', alwaysAnswer(302)),
  row('another address', 'redirect', alwaysAnswer(301, '', { location: 'http://other.test/webhooks' })),
  row('https', 'redirect_https', () => ({ headers }) => [
    301,
    '',
    { location: `https://${headers.host}/webhooks` },
  ]),
  row('a slash below oauth', 'redirect_slash', alwaysAnswer(308, '', { location: '/oauth/webhooks/' }), {
    url: (port) => `http://127.0.0.1:${port}/oauth/webhooks`,
  }),
  row('a slash', 'redirect_slash', alwaysAnswer(308, '', { location: '/webhooks/' })),
  row(
    'a redirect to the login',
    'redirect_login',
    alwaysAnswer(302, 'Found', { location: '/login?next=/webhooks' }),
  ),
  row(
    'a redirect to the sign-in of another host',
    'redirect_login',
    alwaysAnswer(302, '', { location: 'https://auth.test/signin' }),
  ),
  row(
    'a login page',
    'login_page',
    alwaysAnswer(
      200,
      '<!doctype html><html><head><title>Log in</title></head><body><form method="post"><input name="user"><input type="password" name="password"></form></body></html>',
      html,
    ),
  ),
  row(
    'a single-page application',
    'login_page|answers_everything',
    alwaysAnswer(
      200,
      '<!doctype html><html><head><title>Shop</title></head><body><div id="root"></div><script src="/app.js"></script></body></html>',
      html,
    ),
  ),
  row(
    'a parked domain',
    'login_page|answers_everything',
    alwaysAnswer(200, '<html><body><h1>Welcome to nginx!</h1></body></html>', html),
  ),
  row('a catch-all', 'answers_everything', alwaysAnswer(200, {})),
  row(
    'Basic authentication',
    'access_check',
    alwaysAnswer(401, 'Unauthorized', { 'www-authenticate': 'Basic realm="staging"' }),
  ),
  row(
    '403 of a firewall',
    'access_check',
    alwaysAnswer(
      403,
      '<html><head><title>Attention Required! | Cloudflare</title></head><body>Sorry, you have been blocked</body></html>',
      html,
    ),
  ),
  ...(
    [
      ['Unauthenticated, as Laravel says', { message: 'Unauthenticated.' }, {}],
      ['sign in, as Devise says', { error: 'You need to sign in or sign up before continuing.' }, {}],
      ['protected, as Vercel says', '<title>Authentication Required</title>', html],
      ['not authenticated, as FastAPI says', { detail: 'Not authenticated' }, {}],
      ['a bearer challenge', '', { 'www-authenticate': 'Bearer realm="api"' }],
      ['a form to log in', '<form action="/login"><input type="password" name="p"></form>', html],
    ] as const
  ).map(([name, body, headers]) =>
    row(`401 everywhere: ${name}`, 'access_check', alwaysAnswer(401, body, headers)),
  ),
  ...(
    [
      ['invalid token', { error: 'invalid token' }],
      ['token mismatch', 'Webhook token mismatch'],
      ['an HTML page', '<html><body><h1>Forbidden</h1></body></html>'],
      ['a challenge of its own', 'Unauthorized', { 'www-authenticate': 'Signature' }],
    ] as const
  ).map(([name, body, headers]) =>
    row(
      `another secret, on every path: 401 with ${name}`,
      'secret_or_scheme',
      alwaysAnswer(401, body, headers),
      {
        says: /on any path: a login or access check rejects it first, or its secret/,
      },
    ),
  ),
  row(
    'another secret, on every path: other words to what is unsigned',
    'secret_or_scheme',
    () => (incoming) => [401, incoming.signature ? 'Unauthorized' : 'Authentication is required'],
  ),
  row(
    '429 to everything, with a Retry-After of a moment',
    'rate_limited',
    alwaysAnswer(429, '', { 'retry-after': '0' }),
  ),
  row(
    'hangs on a signature of another length',
    'not_tested',
    () => (incoming) => {
      if (isGenuine(incoming)) return received;
      return incoming.signature.length % 64 === 0 ? invalid : 'hang';
    },
    { patienceMs: 400, says: /No response/i },
  ),
  row('401 needs an API key', 'access_check', alwaysAnswer(401, { error: 'Missing API key' })),
  row('401 needs a token', 'access_check', alwaysAnswer(401, { error: 'Missing bearer token' })),
  row(
    'Django CSRF',
    'csrf',
    alwaysAnswer(403, '<h1>Forbidden (403)</h1><p>CSRF verification failed. Request aborted.</p>', html),
  ),
  row('Laravel 419', 'csrf', alwaysAnswer(419, '<title>Page Expired</title>', html)),
  row(
    'Rails CSRF',
    'csrf',
    alwaysAnswer(422, "ActionController::InvalidAuthenticityToken (Can't verify CSRF token authenticity.)"),
  ),
  row(
    '501 of Python',
    'wrong_method',
    alwaysAnswer(501, "<p>Message: Unsupported method ('POST').</p>", html),
  ),
  ...[520, 521, 522, 523, 524, 525, 530].map((status) =>
    row(`${status} of Cloudflare`, 'gateway', alwaysAnswer(status, `error code: ${status}`)),
  ),
  row('507', 'handler_failed', alwaysAnswer(507, 'Insufficient Storage')),
  row('511 of a captive portal', 'access_check', alwaysAnswer(511, 'Network Authentication Required')),
  row(
    'Cloudflare Access',
    'redirect_login',
    alwaysAnswer(302, '', { location: 'https://team.cloudflareaccess.com/cdn-cgi/access/login/shop.test' }),
  ),
  row(
    '503 for a parsed object',
    'parsed_object',
    alwaysAnswer(503, 'TypeError: expected a bytes-like object'),
  ),
  row('502', 'gateway', alwaysAnswer(502, '<html><head><title>502 Bad Gateway</title></head></html>', html)),
  row('503', 'gateway', alwaysAnswer(503, 'Service Unavailable')),
  row('504', 'gateway', alwaysAnswer(504, 'upstream request timeout')),
  row('never responds', 'time_out', () => () => 'hang', { patienceMs: 250, says: /0\.25 s\.$/m }),
  row('500 to everything', 'handler_failed', alwaysAnswer(500, 'Internal Server Error')),
  row(
    '500 to everything, in JSON',
    'handler_failed',
    alwaysAnswer(500, { statusCode: 500, message: 'Internal server error' }),
  ),
  row(
    '400 to everything, for a missing field',
    'secret_or_scheme',
    alwaysAnswer(400, { errors: [{ path: 'customer_id', message: 'Required' }] }),
    { says: /customer_id/ },
  ),
  ...['NOK', { success: 'false' }, { statusCode: 401 }].map((words) =>
    row(`refuses all with 200 ${JSON.stringify(words)}`, 'refuses_with_success', alwaysAnswer(200, words)),
  ),
  row('verifies something else and refuses with 200', 'refuses_with_success', () => () => [
    200,
    { error: 'invalid signature' },
  ]),
];

/** Errors of handlers that verify, and then fail in words that are usual for a wrong verification. */
const failingLater = [
  'TypeError: Body is unusable: Body has already been read',
  'Error: MAILER_SECRET is not set',
  'no order for product Secret Santa mug',
  'psycopg.errors.UndefinedColumn: no column named client_secret',
  "TypeError: a bytes-like object is required, not 'str'",
  'SyntaxError: "[object Object]" is not valid JSON',
  '{"error":"duplicate_header"}',
].map((words) =>
  row(
    `verifies, and then says ${words}`,
    'handler_failed',
    verifyThenAnswer(() => [500, words]),
    { says: /verifies the signature, and then fails/ },
  ),
);

const runningOut = [
  row(
    'has one open order of that amount',
    'handler_failed',
    () => {
      let open = 1;
      return verifyThenAnswer(() => (open-- > 0 ? received : [409, 'no open order of 19.90']))();
    },
    { amount: '19.90', says: /accepted the first deliveries.*no open order of that amount left/s },
  ),
  row('takes an amount once a minute', 'handler_failed', () => {
    const seen = new Set<string>();
    return verifyThenAnswer((incoming) => {
      const { amount } = event(incoming).data;
      if (seen.has(amount)) return [409, { error: 'duplicate payment' }];
      seen.add(amount);
      return received;
    })();
  }),
];

const joins = row(
  'joins text and bytes in Python',
  'handler_failed',
  alwaysAnswer(500, 'TypeError: sequence item 0: expected a bytes-like object, str found'),
);

export const misconfigured = [
  joins,
  ...runningOut,
  ...failingLater,
  ...bodies,
  ...secrets,
  ...schemes,
  ...times,
  ...headers,
  ...afterVerifying,
  ...dying,
  ...unreached,
];
