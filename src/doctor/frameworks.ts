import { rawBytes } from '../webhooks/body.js';
import type { Sent } from './delivery.js';

/** A framework that an answer betrays, and its own words for the usual fixes. */
export interface Framework {
  name: string;
  /** Has the raw body kept for the handler. */
  rawBody: string;
  /** Lets the webhook's path past the CSRF or login check. */
  exempt: string;
}

const frameworks: readonly (Framework & { made(headers: Record<string, string>, body: string): boolean })[] =
  [
    {
      name: 'NestJS',
      made: (headers, body) =>
        /express/i.test(headers['x-powered-by'] ?? '') && /^\{.*"statusCode":\d+/.test(body),
      rawBody: 'NestFactory.create(AppModule, { rawBody: true }), then verify req.rawBody',
      exempt: 'leave the webhook route out of the global guard, for instance with a @Public() decorator',
    },
    {
      name: 'Express',
      made: (headers) => /express/i.test(headers['x-powered-by'] ?? ''),
      rawBody:
        "app.post('/webhooks', express.raw({ type: 'application/json' }), handler), above app.use(express.json())",
      exempt: 'register the webhook route above app.use() of the login or CSRF middleware',
    },
    {
      name: 'Next.js',
      made: (headers) => /next/i.test(headers['x-powered-by'] ?? '') || 'x-nextjs-cache' in headers,
      rawBody: 'a route handler with `await request.arrayBuffer()`; under pages/api, `bodyParser: false`',
      exempt: 'leave the webhook path out of the `matcher` of the middleware',
    },
    {
      name: 'Laravel',
      made: (headers, body) => /laravel|XSRF-TOKEN/.test(headers['set-cookie'] ?? '') || /Laravel/.test(body),
      rawBody: '$request->getContent()',
      exempt: "validateCsrfTokens(except: ['webhooks']) in bootstrap/app.php",
    },
    {
      name: 'Rails',
      made: (headers, body) => 'x-runtime' in headers || /ActionController::/.test(body),
      rawBody: 'request.raw_post',
      exempt: 'skip_before_action :verify_authenticity_token in the webhook controller',
    },
    {
      name: 'Django',
      made: (headers, body) =>
        /WSGIServer/.test(headers.server ?? '') || /CSRF verification failed|Django/.test(body),
      rawBody: 'request.body, never json.dumps(json.loads(…))',
      exempt: '@csrf_exempt on the webhook view',
    },
    {
      name: 'Flask',
      made: (headers) => /Werkzeug/.test(headers.server ?? ''),
      rawBody: 'request.get_data()',
      exempt: '@csrf.exempt on the webhook view',
    },
    {
      name: 'FastAPI',
      made: (headers, body) => /uvicorn|hypercorn/.test(headers.server ?? '') || /^\{"detail":/.test(body),
      rawBody: 'await request.body()',
      exempt: 'leave the webhook route out of the dependency that checks the login',
    },
    {
      name: 'Spring',
      made: (headers, body) =>
        'x-application-context' in headers || /"timestamp":.*"status":\d+.*"path":/.test(body),
      rawBody: '@RequestBody byte[] body',
      exempt: 'csrf.ignoringRequestMatchers("/webhooks") and permitAll() for that path',
    },
    {
      name: 'ASP.NET Core',
      made: (headers) => /Kestrel|ASP\.NET/.test(`${headers.server} ${headers['x-powered-by']}`),
      rawBody: 'read Request.Body to its end yourself, before model binding (Request.EnableBuffering())',
      exempt: '[AllowAnonymous] and [IgnoreAntiforgeryToken] on the webhook action',
    },
    {
      name: 'PHP',
      made: (headers) => /php/i.test(headers['x-powered-by'] ?? ''),
      rawBody: "file_get_contents('php://input')",
      exempt: 'leave the webhook path out of the check',
    },
    {
      name: 'Fastify',
      made: (_, body) => /^\{"statusCode":\d+,.*"(?:error|message)":|"code":"FST_ERR/.test(body),
      rawBody:
        "app.addContentTypeParser('application/json', { parseAs: 'buffer' }, (request, body, done) => done(null, body))",
      exempt: 'register the webhook route outside of the plugin that adds the hook',
    },
  ];

/** The framework behind a receiver, by whatever answer betrays it. */
export function frameworkOf(answers: readonly Sent[]): Framework | undefined {
  return frameworks.find(({ made }) =>
    answers.some(({ headers, body }) => headers && made(headers, body?.slice(0, 4096) ?? '')),
  );
}

/** How to verify the bytes as they came, in the framework's own words. */
export function rawBodyFix(framework: Framework | undefined): string {
  return framework ? `In ${framework.name}: ${framework.rawBody}.` : `Verify the raw bytes. ${rawBytes}.`;
}

export function exemptFix(framework: Framework | undefined): string {
  const proof = 'the signature is its proof.';
  return framework
    ? `In ${framework.name}: ${framework.exempt}; ${proof}`
    : `Exempt the webhook path from it; ${proof}`;
}
