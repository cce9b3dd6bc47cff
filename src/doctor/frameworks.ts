import { rawBytes } from '../webhooks/body.js';
import type { Sent } from './delivery.js';

/** What runs behind a receiver, where its responses betray it, and its own words for the usual fixes. */
export interface Framework {
  name: string;
  language: keyof typeof languages;
  /** Keeps the raw body for the handler. */
  raw: string;
  /** Lets the webhook path past the CSRF or login check. */
  exempt: string;
  made(response: { headers: Record<string, string>; body: string; server: string }): boolean;
}

const languages = {
  JavaScript: {
    verify: 'const event = webhooks.verify({ rawBody, headers, secret })',
    fresh: 'Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300',
    trim: '.trim()',
  },
  Python: {
    verify: 'hmac.compare_digest(hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest(), signature)',
    fresh: 'abs(time.time() - int(timestamp)) <= 300',
    trim: '.strip()',
  },
  PHP: {
    verify: "hash_equals(hash_hmac('sha256', $signed, $secret), $signature)",
    fresh: 'abs(time() - (int) $timestamp) <= 300',
    trim: 'trim()',
  },
  Ruby: {
    verify: "Rack::Utils.secure_compare(OpenSSL::HMAC.hexdigest('SHA256', secret, signed), signature)",
    fresh: '(Time.now.to_i - timestamp.to_i).abs <= 300',
    trim: '.strip',
  },
  Go: {
    verify:
      'hmac.Equal(mac.Sum(nil), signature), with mac := hmac.New(sha256.New, secret) and the header decoded from hex',
    fresh: 'time.Since(time.Unix(seconds, 0)).Abs() <= 300*time.Second',
    trim: 'bytes.TrimSpace()',
  },
  Java: {
    verify: 'MessageDigest.isEqual(mac.doFinal(signed), signature)',
    fresh: 'Math.abs(Instant.now().getEpochSecond() - timestamp) <= 300',
    trim: '.strip()',
  },
  'C#': {
    verify: 'CryptographicOperations.FixedTimeEquals(HMACSHA256.HashData(key, signed), signature)',
    fresh: 'Math.Abs(DateTimeOffset.UtcNow.ToUnixTimeSeconds() - timestamp) <= 300',
    trim: '.Trim()',
  },
};

/** The more special first: Express behind NestJS, Rails before Ruby. */
const frameworks: readonly Framework[] = [
  {
    name: 'NestJS',
    language: 'JavaScript',
    made: ({ server, body }) => /express/i.test(server) && /^\{.*"statusCode":\d+/.test(body),
    raw: 'NestFactory.create(AppModule, { rawBody: true }), then verify req.rawBody',
    exempt: 'leave the webhook route out of the global guard, for instance with a @Public() decorator',
  },
  {
    name: 'Express',
    language: 'JavaScript',
    made: ({ server }) => /express/i.test(server),
    raw: "app.post('/webhooks', express.raw({ type: 'application/json' }), handler), above app.use(express.json())",
    exempt: 'register the webhook route above app.use() of the login or CSRF middleware',
  },
  {
    name: 'Next.js',
    language: 'JavaScript',
    made: ({ server, headers }) => /next/i.test(server) || 'x-nextjs-cache' in headers,
    raw: 'a route handler with `await request.arrayBuffer()`; under pages/api, `bodyParser: false`',
    exempt: 'leave the webhook path out of the `matcher` of the middleware',
  },
  {
    name: 'Laravel',
    language: 'PHP',
    made: ({ headers, body }) =>
      /laravel|XSRF-TOKEN/.test(headers['set-cookie'] ?? '') || /Laravel/.test(body),
    raw: '$request->getContent()',
    exempt: "validateCsrfTokens(except: ['webhooks']) in bootstrap/app.php",
  },
  {
    name: 'Rails',
    language: 'Ruby',
    made: ({ headers, body }) => 'x-runtime' in headers || /ActionController::/.test(body),
    raw: 'request.raw_post',
    exempt: 'skip_before_action :verify_authenticity_token in the webhook controller',
  },
  {
    name: 'Django',
    language: 'Python',
    made: ({ server, body }) => /WSGIServer/.test(server) || /CSRF verification failed|Django/.test(body),
    raw: 'request.body, never json.dumps(json.loads(…))',
    exempt: '@csrf_exempt on the webhook view',
  },
  {
    name: 'Flask',
    language: 'Python',
    made: ({ server }) => /Werkzeug/.test(server),
    raw: 'request.get_data()',
    exempt: '@csrf.exempt on the webhook view',
  },
  {
    name: 'FastAPI',
    language: 'Python',
    made: ({ server, body }) => /uvicorn|hypercorn/.test(server) || /^\{"detail":/.test(body),
    raw: 'await request.body()',
    exempt: 'leave the webhook route out of the dependency that checks the login',
  },
  {
    name: 'Python',
    language: 'Python',
    made: ({ server, body }) =>
      /Python|gunicorn|waitress|CherryPy/.test(server) || /Traceback \(most recent|\.py", line \d/.test(body),
    raw: "the bytes as read, such as self.rfile.read(int(self.headers['Content-Length'])), never json.dumps(json.loads(…))",
    exempt: 'leave the webhook path out of the check',
  },
  {
    name: 'Spring',
    language: 'Java',
    made: ({ headers, body }) =>
      'x-application-context' in headers || /"timestamp":.*"status":\d+.*"path":/.test(body),
    raw: '@RequestBody byte[] body',
    exempt: 'csrf.ignoringRequestMatchers("/webhooks") and permitAll() for that path',
  },
  {
    name: 'ASP.NET Core',
    language: 'C#',
    made: ({ server }) => /Kestrel|ASP\.NET/.test(server),
    raw: 'read Request.Body to its end yourself, before model binding (Request.EnableBuffering())',
    exempt: '[AllowAnonymous] and [IgnoreAntiforgeryToken] on the webhook action',
  },
  {
    name: 'PHP',
    language: 'PHP',
    made: ({ server, body }) => /php/i.test(server) || /\.php(?::\d| on line)/.test(body),
    raw: "file_get_contents('php://input')",
    exempt: 'leave the webhook path out of the check',
  },
  {
    name: 'Ruby',
    language: 'Ruby',
    made: ({ server, body }) =>
      /WEBrick|Puma|Passenger|\bthin\b/i.test(server) || /Sinatra|\.rb:\d+/.test(body),
    raw: 'request.body.read, before anything parses it',
    exempt: 'leave the webhook path out of the check',
  },
  {
    name: 'Fastify',
    language: 'JavaScript',
    made: ({ body }) => /^\{"statusCode":\d+,.*"(?:error|message)":|"code":"FST_ERR/.test(body),
    raw: "app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => done(null, body))",
    exempt: 'register the webhook route outside of the plugin that adds the hook',
  },
  {
    name: 'Go',
    language: 'Go',
    // As http.Error() and http.NotFound() write it.
    made: ({ headers, body }) =>
      (headers['x-content-type-options'] === 'nosniff' &&
        headers['content-type'] === 'text/plain; charset=utf-8' &&
        body.endsWith('\n')) ||
      /goroutine \d|\.go:\d+/.test(body),
    raw: 'body, err := io.ReadAll(r.Body), before json.Unmarshal',
    exempt: 'register the webhook path outside of the middleware',
  },
];

/** The framework behind a receiver, by whatever response betrays it. */
export function frameworkOf(responses: readonly Sent[]): Framework | undefined {
  const seen = responses.flatMap(({ headers, body = '' }) =>
    headers
      ? { headers, body: body.slice(0, 4096), server: `${headers.server} ${headers['x-powered-by']}` }
      : [],
  );
  return frameworks.find(({ made }) => seen.some(made));
}

/** The usual fixes in a framework's own words. */
export function fixesIn(framework: Framework | undefined): Record<string, string> {
  const { verify, ...language } = languages[framework?.language ?? 'JavaScript'];
  const proof = 'the signature is its proof';
  return {
    ...language,
    verify: framework === undefined ? verify : `in ${framework.language}, ${verify}`,
    raw: framework ? `In ${framework.name}: ${framework.raw}` : `Verify the raw bytes. ${rawBytes}`,
    exempt: framework
      ? `In ${framework.name}: ${framework.exempt}; ${proof}`
      : `Exempt the webhook path from it; ${proof}`,
  };
}
