// Phrases in responses, by what they report: one phrase a line, with the programs that say it. Handlers choose the others themselves.

/** Returns a pattern that matches any of some phrases, in upper or lower case. */
const anyOf = (...phrases: readonly RegExp[]): RegExp =>
  new RegExp(phrases.map(({ source }) => source).join('|'), 'i');

/** Matches the field in which this package's handlers report the code of an error. */
export const codePattern = (...codes: readonly string[]): RegExp =>
  new RegExp(`"(?:error|code)"\\s*:\\s*"(?:${codes.join('|')})"`);

/** Matches the response of a port that speaks only TLS to a request over http. */
export const requiresTls = anyOf(
  /HTTP request was sent to HTTPS/, // nginx
  /HTTP request to an HTTPS/, // Go
  /HTTP request to HTTPS/,
);

/** Matches the response of a CSRF check. */
export const csrfCheck = anyOf(
  /csrf/, // Django, Flask, Laravel, Express
  /authenticity ?token/, // Rails
  /RequestForgeryProtection/, // Rails
  /site request forgery/,
);

/** Matches the path of a login page. */
export const loginPath = anyOf(/log-?in/, /sign-?in/, /\bsso\b/, /oauth/, /auth\b/);

/** Matches a `www-authenticate` header that asks for a login. */
export const loginScheme = anyOf(/^(?:basic|bearer|digest|negotiate|ntlm|token)\b/);

/** Matches a login form, by its password field. */
export const loginForm = anyOf(/<input\b[^>]*type=["']?password/);

/** Matches phrases of a login or a firewall, which a handler could use too. */
export const accessCheck = anyOf(
  /unauthenticated/, // Laravel
  /log ?in\b/, // Devise
  /sign ?in\b/, // Devise
  /not authenticated/, // FastAPI
  /authentication credentials/, // Django REST framework
  /authentication (?:is )?required/,
  /\bbearer\b/, // API gateways
  /\bapi key\b/, // API gateways
  /authorization token/, // API gateways
  /you have been blocked/, // Cloudflare
  /attention required/, // Cloudflare
  /enable javascript and cookies/, // Cloudflare
  /request (?:was )?blocked/, // firewalls
);

export const aboutSignature = anyOf(/signature/);

/** Matches words about keys and signatures, which a response about an order does not use. */
export const aboutVerification = anyOf(/signature/, /hmac/, /secret/, /\bkey\b/, /verif/);

/** Matches the report that there is no such order. */
export const unknownOrder = anyOf(
  /\b(?:order|payment)\b.{0,60}\b(?:not found|unknown|does(?:n't| not) exist)\b/,
  /\b(?:unknown|no|no such|no open)\s+(?:order|payment)\b/,
);

/** Matches the report that a signature header is missing. */
export const missingHeader = anyOf(
  /unable to extract\b.{0,20}(?:signature|timestamp|header)/, // libraries of Stripe
  /(?:missing|\bno|without|absent)\b.{0,20}(?:signature|timestamp|header)/,
  /(?:signature|timestamp)s?\b.{0,20}(?:missing|required|not (?:found|provided|present|set)|absent|is empty)/,
);

/** Matches words that leave open whether a signature is missing or wrong: "missing or invalid signature". */
export const orInvalid = anyOf(
  /\bvalid\b/,
  /\bmatch/,
  /(?:\bor\b|\/).{0,20}(?:invalid|incorrect|wrong|bad\b|malformed|mismatch)/,
  /(?:invalid|incorrect|wrong|\bbad|malformed|mismatch\w*)\W{1,3}(?:or\b|\/)/,
);

/** Matches words that may be about the age of a delivery. */
export const aboutTime = anyOf(
  /time/,
  /clock/,
  /date/,
  /old/,
  /expire/,
  /stale/,
  /toleran/,
  /future/,
  /fresh/,
  /recent/,
  /replay/,
);

/** Matches the report that a delivery is too old or too new. */
export const tooOld = anyOf(
  /too (?:old|new|late|early)/,
  /stale/,
  /expired/,
  /toleran/, // libraries of Stripe
  /clock/,
  /skew/,
  /in the (?:past|future)/,
  /replay/,
);

/** Matches words of a refusal that may be about something other than the age of the delivery. */
export const notOnlyAge = anyOf(/signature/, /hmac/, /token/, /session/, /page/, /\bor\b/);

/** Matches the report that the secret is missing. */
export const noSecret = anyOf(
  /secret must be a string or bytes/, // verify() of this package
  /"key" argument must be/, // createHmac() of Node
  /\(\$key\) must be of type string, null/, // hash_hmac() of PHP
  /KeyError\b.{0,30}secret(?!s? (?:match|verif)|\W*header)/, // Python
  // "The secret is undefined", "webhook_key is not set".
  /(?:secret|(?:secret|hmac|webhook|signing)_?key)\W.{0,30}(?:undefined|missing|empty|required|not (?:set|found|defined|configured))/,
  // The same words in reverse order, but not "no secret matches", nor names of headers.
  /(?:undefined|missing|(?<!match(?:es|ed)? )no|key not found)\b.{0,30}secret(?!s? (?:match|verif)|\W*header)/,
);

/** Matches the report of a parsed object in place of the raw body. */
export const parsedObject = anyOf(
  /rawBody is (?:missing|an array|a parsed object)/, // verify() of this package
  /Unexpected token '?o/, // JSON.parse() of V8
  /\[object Object\]/, // JavaScript's text of an object
  /must be of type string or an instance of (?:Buffer|ArrayBuffer)/, // update() of a hash in Node
  /(?<!sequence item \d+: )expected a bytes-like object/, // hmac.new() of Python, but not join() of a list
  /a bytes-like object is required/, // Python
  /\(\$data\) must be of type string, (?:array|stdClass)/, // hash_hmac() of PHP
);

/** Matches the report that something else has read the body. */
export const consumedBody = anyOf(
  /body is unusable/, // Request of Node
  /body has already been/, // Request of Cloudflare
  /body already (?:read|used)/, // Request of Bun
  /stream is not readable/, // raw-body, in Express and Koa
  /RawPostDataException/, // Django
);

/** Matches the messages of `verify()` about arguments that are not its options. */
export const calledWrongly = anyOf(
  /verify\(\) takes one (?:options )?object/,
  /rawBody is (?:a promise|a whole Request|a stream|neither)/,
  /headers must be an object/,
);

/** Matches an uncaught error that a program prints into its response. */
export const uncaughtError = anyOf(
  /fatal error\W[\s\S]*uncaught/, // PHP
  /traceback \(most/, // Python
);

/** Matches words of a refusal, in a response with a success status. */
export const refusal = anyOf(
  /invalid/,
  /error/,
  /mismatch/,
  /reject/,
  /denied/,
  /forbidden/,
  /unauthori[sz]ed/,
  /fail/,
  /^\W*no\W*$/,
  /\b(?:nok|not ok|ko|nack)\b/,
  /:\s*"?false\b/,
  /"(?:code|status\w*)"\s*:\s*"?[45]\d\d\b/,
);
