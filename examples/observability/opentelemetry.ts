/**
 * A span and a measurement for each request, a measurement for each call, and measurements for webhooks. Names and attributes follow
 * OpenTelemetry's conventions for HTTP clients. They hold no key and no header; the exception of a failed call quotes the
 * message of the service's response.
 *
 *     new PaymentsClient({ hooks: openTelemetryHooks() })
 *     webhooks.nodeHandler({ secret, on, hooks: openTelemetryWebhookHooks() })
 *     openInbox({ file, secret, on, hooks: openTelemetryInboxHooks() })
 */
import { type Attributes, metrics, SpanKind, SpanStatusCode, trace } from '@opentelemetry/api';
import type { HookFacts, Hooks } from 'merchant-payments';
import type { InboxHooks } from 'merchant-payments/inbox';
import type { WebhookHooks } from 'merchant-payments/webhooks';

export function openTelemetryHooks(): Hooks {
  const tracer = trace.getTracer('merchant-payments');
  const meter = metrics.getMeter('merchant-payments');
  const duration = meter.createHistogram('http.client.request.duration', { unit: 's' });
  const calls = meter.createHistogram('merchant_payments.call.duration', { unit: 's' });
  const retries = meter.createCounter('merchant_payments.retries');
  const failures = meter.createCounter('merchant_payments.failures');

  const attributes = ({ operation, method, path, attempt }: HookFacts): Attributes => ({
    'merchant_payments.operation': operation,
    'http.request.method': method,
    'url.template': path,
    'http.request.resend_count': attempt - 1,
  });

  return {
    // The response says how long the request took, so the span is made when it is over.
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
    retry: (facts) => {
      retries.add(1, attributes(facts));
    },
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
    // Once for each call, retries and waits included, and also when the caller aborts it.
    end: ({ operation, outcome, durationMs }) => {
      calls.record(durationMs / 1000, {
        'merchant_payments.operation': operation,
        'merchant_payments.outcome': outcome,
      });
    },
  };
}

/** Counts deliveries by what became of them, and measures your function. A key holds an order id, so it is no attribute. */
export function openTelemetryWebhookHooks(): WebhookHooks {
  const meter = metrics.getMeter('merchant-payments');
  const deliveries = meter.createCounter('merchant_payments.webhooks');
  const duration = meter.createHistogram('merchant_payments.webhooks.duration', { unit: 's' });
  return {
    received: ({ type }) => {
      deliveries.add(1, { state: 'received', type });
    },
    duplicate: ({ type }) => {
      deliveries.add(1, { state: 'duplicate', type });
    },
    refused: ({ code, status }) => {
      deliveries.add(1, { state: 'refused', code, status });
    },
    done: ({ type, durationMs }) => {
      deliveries.add(1, { state: 'done', type });
      duration.record(durationMs / 1000, { type });
    },
    failed: ({ type, durationMs, error }) => {
      const name = error instanceof Error ? error.name : typeof error;
      deliveries.add(1, { state: 'failed', type, 'error.type': name });
      duration.record(durationMs / 1000, { type, 'error.type': name });
    },
  };
}

/** The same for an inbox: of what fails, `parked` counts what is not tried again (`delayMs: null`), and what could not be read. */
export function openTelemetryInboxHooks(): InboxHooks {
  const deliveries = metrics.getMeter('merchant-payments').createCounter('merchant_payments.webhooks');
  return {
    ...openTelemetryWebhookHooks(),
    parked: ({ type }) => {
      deliveries.add(1, { state: 'parked', type });
    },
  };
}
