import type { SandboxContext } from '../sandbox/context.js';
import type { LoggedRequest } from '../sandbox/http/log.js';
import type { SandboxEvent } from '../sandbox/service/event.js';
import { paint } from './terminal.js';

/** Prints one line per request and per delivery. */
export function watch(context: SandboxContext, json: boolean): void {
  const print = (line: string) => process.stdout.write(`${line}\n`);
  context.requests.added.subscribe((request) => {
    const { body: _body, responseBody: _responseBody, ...facts } = request;
    print(json ? JSON.stringify({ type: 'request', ...facts }) : requestLine(request));
  });
  const seen = new WeakMap<SandboxEvent, string>();
  context.deliveries.changed.subscribe((event) => {
    const attempt = event.attempts.at(-1);
    const state = `${event.attempts.length} ${event.state}`;
    if (seen.get(event) === state || (event.state === 'pending' && event.nextAttemptAt === undefined)) return;
    seen.set(event, state);
    const facts = {
      type: 'delivery',
      event: event.id,
      order: event.data.order_id,
      state: event.state,
      attempt: attempt?.number,
      status: attempt?.status,
      error: attempt?.error,
      hint: attempt?.hint,
    };
    print(json ? JSON.stringify(facts) : deliveryLine(event, context.clock.now()));
  });
}

function requestLine({
  at,
  method,
  path,
  status,
  durationMs,
  unspecified,
  warnings,
  fault,
  key,
}: LoggedRequest): string {
  const shown =
    status === undefined ? paint('red', 'lost') : paint(status < 400 ? 'green' : 'yellow', String(status));
  const notes = [
    ...(fault === undefined ? [] : [`fault: ${fault}`]),
    ...(status === 401 && key !== 'ok' ? [`key: ${key}`] : []),
    ...(unspecified.length > 0 ? [`not in the spec: ${unspecified.join(', ')}`] : []),
  ];
  const tail = notes.length > 0 ? paint('dim', `  (${notes.join('; ')})`) : '';
  const first = `${time(at)}  ${method.padEnd(5)} ${path}  ${shown}  ${Math.round(durationMs)} ms${tail}`;
  return [first, ...warnings.map((warning) => `          ${paint('yellow', '!')} ${warning}`)].join('\n');
}

function deliveryLine(event: SandboxEvent, now: number): string {
  const attempt = event.attempts.at(-1);
  const result = attempt
    ? `${attempt.status ?? attempt.error ?? ''}  ${Math.round(attempt.durationMs)} ms  attempt ${attempt.number}`
    : '';
  const wait =
    event.nextAttemptAt === undefined
      ? ''
      : ` in ${Math.max(0, Math.round((event.nextAttemptAt.getTime() - now) / 1000))} s`;
  const state = {
    pending: `to be sent${wait}`,
    held: 'held back',
    no_url: 'kept: no webhook is set',
    retrying: `again${wait}`,
    delivered: paint('green', 'delivered'),
    failed: paint('red', 'failed'),
  }[event.state];
  const first = `${time(new Date(now))}  ${paint('magenta', event.type)} ${event.data.order_id}  ${[state, result].filter(Boolean).join('  ')}`;
  return attempt?.hint === undefined ? first : `${first}\n          ${paint('yellow', '!')} ${attempt.hint}`;
}

const time = (at: Date) => paint('dim', at.toTimeString().slice(0, 8));
