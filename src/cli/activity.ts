import type { Deed, SandboxContext } from '../sandbox/context.js';
import type { LoggedRequest } from '../sandbox/http/log.js';
import { span } from '../sandbox/pages/dashboard/moments.js';
import type { Attempt, SandboxEvent } from '../sandbox/service/event.js';
import { visible } from '../schemas/visible.js';
import { paint } from './terminal.js';

/** Tells one line per delivery attempt and per event that waits. */
export function watchDeliveries(context: SandboxContext, json: boolean, tell: (line: string) => void): void {
  const told = new WeakMap<SandboxEvent, number>();
  const hints = new Set<string>();
  context.deliveries.changed.subscribe((event) => {
    const { attempts, state, nextAttemptAt } = event;
    const attempt = attempts.length > (told.get(event) ?? 0) ? attempts.at(-1) : undefined;
    told.set(event, attempts.length);
    if (!attempt && state === 'pending' && nextAttemptAt === undefined) return;
    const line = () => deliveryLine(event, attempt, context.clock.now()) + hintOnce(attempt?.hint, hints);
    tell(json ? deliveryJson(event, attempt) : line());
  });
}

/** The same, and one line per request and per thing that is done to the sandbox itself. */
export function watch(context: SandboxContext, json: boolean, tell: (line: string) => void): void {
  context.requests.added.subscribe((request) => {
    const { body: _body, responseBody: _responseBody, ...facts } = request;
    tell(json ? JSON.stringify({ type: 'request', ...facts }) : requestLine(request));
  });
  watchDeliveries(context, json, tell);
  context.deeds.subscribe((deed) =>
    tell(json ? JSON.stringify(deed) : `${time(new Date(context.clock.now()))}  ${deedText(deed)}`),
  );
}

function deedText(deed: Deed): string {
  if (deed.type === 'reset')
    return `${paint('magenta', 'reset')}  all data is gone, and the clock is set back`;
  if (deed.type === 'clock') return `${paint('magenta', 'clock')}  it is ${deed.now.toISOString()}`;
  if (deed.type === 'fault') return `${paint('magenta', 'fault')}  ${visible(deed.says)}`;
  return `${paint('magenta', 'fault')}  all are cleared`;
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
  const first = `${time(at)}  ${method.padEnd(5)} ${visible(path)}  ${shown}  ${Math.round(durationMs)} ms${tail}`;
  return [first, ...warnings.map(note)].join('\n');
}

function deliveryJson({ id, data, state, nextAttemptAt }: SandboxEvent, attempt: Attempt | undefined) {
  const { number, cause, status, error, hint } = attempt ?? {};
  return JSON.stringify({
    type: 'delivery',
    event: id,
    order: data.order_id,
    state,
    nextAttemptAt,
    attempt: number,
    cause,
    status,
    error,
    hint,
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
  return `${time(new Date(now))}  ${paint('magenta', type)} ${data.order_id}  ${parts.filter(Boolean).join('; ')}`;
}

/** A hint in full the first time; then only what finds out why. Figures in it differ from event to event. */
function hintOnce(hint: string | undefined, told: Set<string>): string {
  if (hint === undefined) return '';
  const kind = hint.replaceAll(/\b[\da-f]*\d[\da-f]*\b/g, '#');
  if (!told.has(kind)) {
    told.add(kind);
    return `\n${note(hint)}`;
  }
  const [doctor] = /To find out why: .*$/.exec(hint) ?? [];
  return doctor === undefined ? '' : `\n${note(doctor)}`;
}

function outcomeOf({ ok, status, error = '', durationMs, number, cause }: Attempt): string {
  const which = cause === 'due' ? `attempt ${number}` : `attempt ${number}, ${cause}`;
  const outcome =
    status === undefined
      ? paint('red', `failed: ${visible(error.replace(/\.$/, ''))}`)
      : `${ok ? paint('green', `delivered ${status}`) : paint('red', `refused ${status}`)}  ${Math.round(durationMs)} ms`;
  return `${outcome}  (${which})`;
}

const note = (text: string) => `          ${paint('yellow', '!')} ${visible(text)}`;
const time = (at: Date) => paint('dim', at.toTimeString().slice(0, 8));
