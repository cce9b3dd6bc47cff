/**
 * A span and a measurement for each request, from the client's hooks. Names and attributes follow OpenTelemetry's
 * conventions for HTTP clients. Nothing in them comes from a body, a header or a key.
 *
 *     new PaymentsClient({ hooks: openTelemetryHooks() })
 */
import { type Attributes, metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { HookFacts, Hooks } from 'merchant-payments';

export function openTelemetryHooks(): Hooks {
  const tracer = trace.getTracer('merchant-payments');
  const meter = metrics.getMeter('merchant-payments');
  const duration = meter.createHistogram('http.client.request.duration', { unit: 's' });
  const retries = meter.createCounter('merchant_payments.retries');
  const failures = meter.createCounter('merchant_payments.failures');

  const attributes = ({ operation, method, path, attempt }: HookFacts): Attributes => ({
    'merchant_payments.operation': operation,
    'http.request.method': method,
    'url.template': path,
    'http.request.resend_count': attempt - 1,
  });

  return {
    // The answer says how long the request took, so the span is made when it is over.
    response: ({ status, durationMs, ...facts }) => {
      const all = { ...attributes(facts), 'http.response.status_code': status };
      const endTime = Date.now();
      const span = tracer.startSpan(`${facts.method} ${facts.path}`, {
        kind: SpanKind.CLIENT,
        startTime: endTime - durationMs,
        attributes: all,
      });
      if (status >= 400) span.setStatus({ code: SpanStatusCode.ERROR });
      span.end(endTime);
      duration.record(durationMs / 1000, all);
    },
    retry: (facts) => retries.add(1, attributes(facts)),
    error: ({ error, durationMs, ...facts }) => {
      const endTime = Date.now();
      const span = tracer.startSpan(`${facts.operation} failed`, {
        startTime: endTime - durationMs,
        attributes: { ...attributes(facts), 'error.type': error.name },
      });
      span.recordException(error);
      span.setStatus({ code: SpanStatusCode.ERROR, message: error.message });
      span.end(endTime);
      failures.add(1, { ...attributes(facts), 'error.type': error.name });
    },
  };
}
