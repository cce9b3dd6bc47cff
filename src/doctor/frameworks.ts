import type { Sent } from '../sending/delivery.js';
import { rawBytes } from '../webhooks/body.js';

/** The framework of a receiver, if its responses show it, and how the usual fixes are written in it. */
export interface Framework {
  name: string;
  language: keyof typeof languages;
  /** Keeps the raw body for the handler. */
  raw: string;
  /** Exempts the webhook path from the CSRF or login check, if there is one usual way. */
  exempt?: string;
  /** Matches its responses: header lines, an empty line, the body. */
  sign: RegExp;
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

/** The more specific first: NestJS before Express, Rails before Ruby. */
const frameworks: Readonly<Record<string, Omit<Framework, 'name'>>> = {
  NestJS: {
    language: 'JavaScript',
    sign: /^x-powered-by: express.*\n\n\{.*"statusCode":\d+/ims,
    raw: 'NestFactory.create(AppModule, { rawBody: true }), then verify req.rawBody',
    exempt: 'leave the webhook route out of the global guard, for instance with a @Public() decorator',
  },
  Express: {
    language: 'JavaScript',
    sign: /^(?:server|x-powered-by): .*express/im,
    raw: "app.post('/webhooks', express.raw({ type: 'application/json' }), handler), above app.use(express.json())",
    exempt: 'register the webhook route above app.use() of the login or CSRF middleware',
  },
  'Next.js': {
    language: 'JavaScript',
    sign: /^(?:server|x-powered-by): .*next|^x-nextjs-cache:/im,
    raw: 'a route handler with `await request.arrayBuffer()`; under pages/api, `bodyParser: false`',
    exempt: 'leave the webhook path out of the `matcher` of the middleware',
  },
  Laravel: {
    language: 'PHP',
    sign: /^set-cookie: .*(?:laravel|XSRF-TOKEN)|Laravel/m,
    raw: '$request->getContent()',
    exempt: "validateCsrfTokens(except: ['webhooks']) in bootstrap/app.php",
  },
  Rails: {
    language: 'Ruby',
    sign: /^x-runtime:|ActionController::/m,
    raw: 'request.raw_post',
    exempt: 'skip_before_action :verify_authenticity_token in the webhook controller',
  },
  Django: {
    language: 'Python',
    sign: /^server: .*WSGIServer|CSRF verification failed|Django/m,
    raw: 'request.body, never json.dumps(json.loads(…))',
    exempt: '@csrf_exempt on the webhook view',
  },
  Flask: {
    language: 'Python',
    sign: /^server: .*Werkzeug/m,
    raw: 'request.get_data()',
    exempt: '@csrf.exempt on the webhook view',
  },
  FastAPI: {
    language: 'Python',
    sign: /^server: .*(?:uvicorn|hypercorn)|\n\n\{"detail":\[\{/m,
    raw: 'await request.body()',
    exempt: 'leave the webhook route out of the dependency that checks the login',
  },
  Python: {
    language: 'Python',
    sign: /^server: .*(?:Python|gunicorn|waitress|CherryPy)|Traceback \(most recent|\.py", line \d/m,
    raw: "the bytes as read, such as self.rfile.read(int(self.headers['Content-Length'])), never json.dumps(json.loads(…))",
  },
  Spring: {
    language: 'Java',
    sign: /^x-application-context:|"timestamp":.*"status":\d+.*"path":/m,
    raw: '@RequestBody byte[] body',
    exempt: 'csrf.ignoringRequestMatchers("/webhooks") and permitAll() for that path',
  },
  'ASP.NET Core': {
    language: 'C#',
    sign: /^(?:server|x-powered-by): .*(?:Kestrel|ASP\.NET)/m,
    raw: 'read Request.Body to its end yourself, before model binding (Request.EnableBuffering())',
    exempt: '[AllowAnonymous] and [IgnoreAntiforgeryToken] on the webhook action',
  },
  PHP: {
    language: 'PHP',
    sign: /^(?:server|x-powered-by): .*php|\.php(?::\d| on line)/im,
    raw: "file_get_contents('php://input')",
  },
  Ruby: {
    language: 'Ruby',
    sign: /^(?:server|x-powered-by): .*(?:WEBrick|Puma|Passenger|\bthin\b)|Sinatra|\.rb:\d+/im,
    raw: 'request.body.read, before anything parses it',
  },
  Fastify: {
    language: 'JavaScript',
    sign: /\n\n\{"statusCode":\d+,.*"(?:error|message)":|"code":"FST_ERR/,
    raw: "app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => done(null, body))",
    exempt: 'register the webhook route outside of the plugin that adds the hook',
  },
  Go: {
    language: 'Go',
    // As http.Error() and http.NotFound() write it.
    sign: /^(?=.*x-content-type-options: nosniff\n)(?=.*content-type: text\/plain; charset=utf-8\n).*\S\n$|goroutine \d|\.go:\d+/s,
    raw: 'body, err := io.ReadAll(r.Body), before json.Unmarshal',
    exempt: 'register the webhook path outside of the middleware',
  },
};

/** The framework behind a receiver, if any response shows it. */
export function frameworkOf(responses: readonly Sent[]): Framework | undefined {
  const seen = responses.map(({ headers = {}, body = '' }) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
    return `\n${lines.join('')}\n${body.slice(0, 4096)}`;
  });
  const found = Object.entries(frameworks).find(([, { sign }]) => seen.some((text) => sign.test(text)));
  return found && { name: found[0], ...found[1] };
}

export function fixesIn(framework: Framework | undefined): Record<string, string> {
  const { verify, ...language } = languages[framework?.language ?? 'JavaScript'];
  const exempt = framework?.exempt
    ? `In ${framework.name}: ${framework.exempt}`
    : 'Exempt the webhook path from it';
  return {
    ...language,
    verify: framework ? `in ${framework.language}, ${verify}` : verify,
    raw: `Verify the raw bytes. ${framework ? `In ${framework.name}: ${framework.raw}` : rawBytes}`,
    exempt: `${exempt}; the signature authenticates deliveries`,
  };
}
