import type { SandboxContext } from '../sandbox/context.js';
import type { LoggedRequest } from '../sandbox/http/log.js';
import { span } from '../sandbox/pages/dashboard/moments.js';
import type { Attempt, SandboxEvent } from '../sandbox/service/event.js';
import { paint } from './terminal.js';

/** Prints one line per request, per delivery attempt, and per event that waits. */
export function watch(context: SandboxContext, json: boolean): void {
  const print = (line: string) => process.stdout.write(`${line}\n`);
  context.requests.added.subscribe((request) => {
    const { body: _body, responseBody: _responseBody, ...facts } = request;
    print(json ? JSON.stringify({ type: 'request', ...facts }) : requestLine(request));
  });
  const printed = new WeakMap<SandboxEvent, number>();
  context.deliveries.changed.subscribe((event) => {
    const { attempts, state, nextAttemptAt } = event;
    const attempt = attempts.length > (printed.get(event) ?? 0) ? attempts.at(-1) : undefined;
    printed.set(event, attempts.length);
    if (!attempt && state === 'pending' && nextAttemptAt === undefined) return;
    print(json ? deliveryJson(event, attempt) : deliveryLine(event, attempt, context.clock.now()));
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
  return [first, ...warnings.map(note)].join('\n');
}

function deliveryJson({ id, data, state, nextAttemptAt }: SandboxEvent, attempt: Attempt | undefined) {
  return JSON.stringify({
    type: 'delivery',
    event: id,
    order: data.order_id,
    state,
    nextAttemptAt,
    attempt: attempt?.number,
    cause: attempt?.cause,
    status: attempt?.status,
    error: attempt?.error,
    hint: attempt?.hint,
  });
}

function deliveryLine(
  { type, data, state, nextAttemptAt }: SandboxEvent,
  attempt: Attempt | undefined,
  now: number,
): string {
  const wait = nextAttemptAt && span(nextAttemptAt.getTime() - now);
  const waits = {
    held: 'held until you deliver it',
    no_url: 'kept: no webhook is set',
    pending: `goes out in ${wait}`,
    retrying: `next attempt in ${wait}`,
    delivered: undefined,
    failed: 'no more attempts',
  }[state];
  const parts = attempt ? [outcomeOf(attempt), attempt.ok ? undefined : waits] : [waits];
  const first = `${time(new Date(now))}  ${paint('magenta', type)} ${data.order_id}  ${parts.filter(Boolean).join('; ')}`;
  return attempt?.hint === undefined ? first : `${first}\n${note(attempt.hint)}`;
}

function outcomeOf({ ok, status, error, durationMs, number, cause }: Attempt): string {
  const which = cause === 'due' ? `attempt ${number}` : `attempt ${number}, ${cause}`;
  const outcome =
    status === undefined
      ? paint('red', `failed: ${error?.replace(/\.$/, '')}`)
      : `${ok ? paint('green', `delivered ${status}`) : paint('red', `refused ${status}`)}  ${Math.round(durationMs)} ms`;
  return `${outcome}  (${which})`;
}

const note = (text: string) => `          ${paint('yellow', '!')} ${text}`;
const time = (at: Date) => paint('dim', at.toTimeString().slice(0, 8));
