import * as Sentry from '@sentry/node';

Sentry.init({ dsn: 'http://key@127.0.0.1:9/1', tracesSampleRate: 1 });
globalThis.trace = (run) => Sentry.startSpan({ name: 'worker' }, run);
