import type { Sent } from '../sending/delivery.js';
import { rawBytes } from '../webhooks/body.js';

/** A framework or language of receivers, recognized by its responses, and the common fixes in its own code. */
interface Framework {
  /** Pattern for the framework's responses: header lines, an empty line, the body. */
  sign: RegExp;
  /** Code that keeps the raw body for the handler. */
  raw: string;
  /** Code that exempts the webhook path from the CSRF or login check, if there is one common way. */
  exempt?: string;
  /** Code that compares the signature. */
  verify?: string;
  /** Code that compares the timestamp with the time of receipt. */
  fresh?: string;
}

/** Fixes in words, for a language without code of its own here. */
const plain = {
  verify: 'compare the whole signature with the HMAC of the raw body, in constant time',
  fresh: 'its distance from now in Unix seconds is at most 300',
};

const javaScript = {
  verify: 'const event = webhooks.verify({ rawBody, headers, secret })',
  fresh: 'Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300',
};

/** Frameworks, the more specific first: NestJS before Express. */
const frameworks: Readonly<Record<string, Framework>> = {
  NestJS: {
    sign: /^x-powered-by: express.*\n\n\{.*"statusCode":\d+/ims,
    raw: 'NestFactory.create(AppModule, { rawBody: true }), then verify req.rawBody',
  },
  Express: {
    sign: /^(?:server|x-powered-by): .*express/im,
    raw: "app.post('/webhooks', express.raw({ type: 'application/json' }), handler), above app.use(express.json())",
    exempt: 'register the webhook route above app.use() of the login or CSRF middleware',
  },
  'Next.js': {
    sign: /^(?:server|x-powered-by): .*next|^x-nextjs-cache:/im,
    raw: 'a route handler with `await request.arrayBuffer()`; under pages/api, `bodyParser: false`',
    exempt: 'leave the webhook path out of the `matcher` of the middleware',
  },
  PHP: {
    sign: /^(?:server|x-powered-by): .*php|\.php(?::\d| on line)|^set-cookie: .*(?:laravel|XSRF-TOKEN)|Laravel/im,
    raw: "file_get_contents('php://input'), in Laravel $request->getContent()",
  },
  Ruby: {
    sign: /^x-runtime:|ActionController::|^(?:server|x-powered-by): .*(?:WEBrick|Puma|Passenger|\bthin\b)|Sinatra|\.rb:\d+/im,
    raw: 'request.body.read, before anything parses it, in Rails request.raw_post',
  },
  Python: {
    sign: /^server: .*(?:Python|WSGIServer|Werkzeug|gunicorn|uvicorn|hypercorn|waitress|CherryPy)|Traceback \(most recent|\.py", line \d|Django|CSRF verification failed|\n\n\{"detail":\[\{/m,
    raw: 'request.body in Django, request.get_data() in Flask, await request.body() in FastAPI, never json.dumps(json.loads(…))',
    exempt: '@csrf_exempt on the webhook view in Django, @csrf.exempt in Flask',
    verify: 'hmac.compare_digest(hmac.new(secret.encode(), signed, hashlib.sha256).hexdigest(), signature)',
    fresh: 'abs(time.time() - int(timestamp)) <= 300',
  },
  Java: {
    sign: /^x-application-context:|"timestamp":.*"status":\d+.*"path":/m,
    raw: '@RequestBody byte[] body',
  },
  'C#': {
    sign: /^(?:server|x-powered-by): .*(?:Kestrel|ASP\.NET)/m,
    raw: 'read Request.Body to its end yourself, before model binding (Request.EnableBuffering())',
  },
  Fastify: {
    sign: /\n\n\{"statusCode":\d+,.*"(?:error|message)":|"code":"FST_ERR/,
    raw: "app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => done(null, body))",
  },
  Go: {
    // The headers and the line end are those that http.Error() and http.NotFound() write.
    sign: /^(?=.*x-content-type-options: nosniff\n)(?=.*content-type: text\/plain; charset=utf-8\n).*\S\n$|goroutine \d|\.go:\d+/s,
    raw: 'body, err := io.ReadAll(r.Body), before json.Unmarshal',
  },
};

/** Returns the name of the framework that the responses show, if any. */
export function frameworkOf(responses: readonly Sent[]): string | undefined {
  const seen = responses.map(({ headers = {}, body = '' }) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}\n`);
    return `\n${lines.join('')}\n${body.slice(0, 4096)}`;
  });
  return Object.keys(frameworks).find((name) => seen.some((text) => frameworks[name]?.sign.test(text)));
}

export function fixesIn(framework = ''): Record<string, string> {
  const isJavaScript = ['', 'NestJS', 'Express', 'Next.js', 'Fastify'].includes(framework);
  const { verify, fresh, raw, exempt } = { ...(isJavaScript ? javaScript : plain), ...frameworks[framework] };
  return {
    fresh,
    verify: framework && verify !== plain.verify ? `in ${framework}, ${verify}` : verify,
    raw: `Verify the raw bytes. ${raw ? `In ${framework}: ${raw}` : rawBytes}`,
    exempt: `${exempt ? `In ${framework}: ${exempt}` : 'Exempt the webhook path from it'}; the signature authenticates deliveries`,
  };
}
