import { type Identification, identifyScheme } from '../doctor/identify.js';
import { WebhookVerificationError } from '../errors.js';
import type { RefusedEntry } from '../inbox/entry.js';
import type { Inbox } from '../inbox/open-inbox.js';
import { schemaSql } from '../inbox/postgres-tables.js';
import { readDuration } from '../input/duration.js';
import { visible } from '../input/visible.js';
import { readGivenChecks } from '../webhooks/checks.js';
import { type RecoverOptions, recoverDelivery } from '../webhooks/recover.js';
import { command, type Flags, type FlagTable, refuseWords } from './command.js';
import { describeIdentification } from './identify.js';
import { withInbox } from './inbox-place.js';
import { readSchemeFlag, schemeFlag, webhookSecret } from './signing.js';
import { CommandError, columns, paragraphs, print, refuseUnless, show, verdict } from './terminal.js';

const flags = {
  parked: ['', 'with retry: every parked delivery but those with another content under a known key'],
  force: ['', 'with retry: also a running delivery, whose function may be stuck'],
  'older-than': ['<time>', 'with purge: such as 90d, 12h'],
  identify: ['', 'with refused: finds the scheme that signed them, with PAYMENTS_WEBHOOK_SECRET'],
  scheme: [schemeFlag[0], 'with recover: what `identify --json` printed; with --identify: your header names'],
  url: ['<url>', 'with --identify: your webhook URL as the service knows it; some services sign it too'],
  tolerance: ['<time>', 'with recover: how far a timestamp may be from its arrival, such as 2h; default 5m'],
  schema: ['<name>', 'the schema of its tables in PostgreSQL; default payments_inbox'],
  'print-schema': ['', 'prints the migration that creates the tables in PostgreSQL'],
  json: ['', 'prints the result as JSON'],
} satisfies FlagTable;

type Name = keyof typeof flags;

export const inbox = command({
  summary: 'shows the webhooks stored by openInbox(), retries and discards them, recovers refused ones',
  usage: `inbox <file>|<postgres://…>             states, and what is parked
       merchant-payments inbox <file> show <key>
       merchant-payments inbox <file> retry <key> [--force] | --parked
       merchant-payments inbox <file> discard <key>
       merchant-payments inbox <file> purge --older-than 90d
       merchant-payments inbox <file> refused [--identify [--url <url>]]
       merchant-payments inbox <file> recover [--scheme '{…}'] [--tolerance 2h]
       merchant-payments inbox --print-schema [--schema <name>]

Without a file or URL, DATABASE_URL is used; PostgreSQL needs the package "pg" of your shop. A running server may have the
inbox open; it takes up what you retry or recover.`,
  example: 'inbox orders.sqlite',
  flags,
  words: 3,
  async run(given) {
    const schema = given.text('schema');
    const names = [...given.positionals];
    if (given.has('print-schema')) {
      refuseWords(names);
      refuseOtherFlags(given, '--print-schema');
      print(schemaSql(schema));
      return 0;
    }
    const place = actions.has(names[0] ?? 'stats') ? process.env.DATABASE_URL : names.shift();
    refuseUnless(place, 'Pass the file of the inbox or the URL of its database, or set DATABASE_URL.');
    const [name = 'stats', ...keys] = names;
    const act = actions.get(name);
    const known = `There are ${[...actions.keys()].join(', ')}; without one, the states and what is parked are listed.`;
    refuseUnless(act, `${JSON.stringify(name)} is not an action. ${known}`);
    // What is invalid is refused before the inbox is opened.
    const request = requestOf(given, name, keys);
    const [text, json, isOk = true] = await withInbox(place, schema, (opened) => act(opened, request));
    return show(given.has('json'), json, () => text, isOk);
  },
});

function requestOf(given: Flags<Name>, action: string, keys: readonly string[]) {
  refuseOtherFlags(given, action);
  const takesKey = ['show', 'retry', 'discard'].includes(action) && !given.has('parked');
  refuseWords(keys.slice(takesKey ? 1 : 0));
  const [key = ''] = keys;
  refuseUnless(key || !takesKey, 'Pass the key of a delivery, such as order.paid:ord_1001.');
  const isForced = given.has('parked') && given.has('force');
  refuseUnless(!isForced, '--force takes one running delivery by its key, not with --parked.');
  const olderThan = readDuration(given.text('older-than')) ?? Number.NaN;
  refuseUnless(action !== 'purge' || olderThan >= 0, 'Pass --older-than with a duration such as 90d.');
  const tolerance = readDuration(given.text('tolerance'));
  const isTolerance = tolerance || !given.has('tolerance');
  refuseUnless(isTolerance, 'Pass --tolerance with a duration above 0, such as 10m or 2h.');
  const identifies = action !== 'refused' || given.has('identify');
  const isUsed = identifies || !(given.has('scheme') || given.has('url'));
  refuseUnless(isUsed, 'refused takes --scheme and --url only with --identify.');
  const scheme = readSchemeFlag(given.text('scheme'));
  return { given, key, olderThan, scheme, toleranceSeconds: tolerance && tolerance / 1000 };
}

type Request = ReturnType<typeof requestOf>;

type Result = readonly [text: string, json: unknown, isOk?: boolean];

/** The flags that an action takes beside those of every action. */
const flagsOf = new Map<string, readonly string[]>([
  ['retry', ['parked', 'force']],
  ['purge', ['older-than']],
  ['refused', ['identify', 'scheme', 'url']],
  ['recover', ['scheme', 'tolerance']],
]);

function refuseOtherFlags({ passed }: Flags<Name>, action: string): void {
  const taken = ['schema', 'print-schema', 'json', ...(flagsOf.get(action) ?? [])];
  const other = passed.find((name) => !taken.includes(name));
  refuseUnless(other === undefined, `${action} takes no --${other}.`);
}

const actions = new Map<string, (inbox: Inbox, request: Request) => Promise<Result>>(
  Object.entries({
    async stats(inbox) {
      const stats = await inbox.stats();
      const parked = await inbox.list({ state: 'parked' });
      const lines = parked.map(({ key, attempts, lastError }) => [key, attempts, lastError ?? '']);
      const more = stats.parked - parked.length;
      const text = paragraphs(
        table(Object.entries(stats)),
        parked.length > 0 && table([['PARKED', 'ATTEMPTS', 'LAST ERROR'], ...lines]),
        more > 0 && `${more} more are parked; \`inbox.list()\` returns them all.`,
      );
      return [text, { ...stats, parkedDeliveries: parked }];
    },
    async show(inbox, { key }) {
      const entry = await inbox.get(key);
      if (!entry) throw new CommandError(`There is no delivery ${JSON.stringify(key)}.`);
      const { event, ...facts } = entry;
      const content = event === null ? 'purged' : JSON.stringify(event, undefined, 2);
      return [`${table(Object.entries(facts))}\n\n${content}`, entry];
    },
    async retry(inbox, { key, given }) {
      const force = given.has('force');
      const count = key === '' ? await inbox.retryParked() : Number(await inbox.retry(key, { force }));
      if (key !== '' && count === 0) throw notWaiting(key, force);
      return [verdict(true, `${count} due now`), { retried: count }];
    },
    async discard(inbox, { key }) {
      if (!(await inbox.discard(key))) throw notWaiting(key);
      return [verdict(true, 'discarded'), { discarded: 1 }];
    },
    async purge(inbox, { olderThan }) {
      const count = await inbox.purge({ olderThan });
      return [verdict(true, `${count} purged; their keys stay known`), { purged: count }];
    },
    async refused(inbox, request) {
      const refused = await inbox.refused({ limit: 1000 });
      const { refused: count } = await inbox.stats();
      const newest = count > refused.length && `These are the newest ${refused.length} of ${count}.`;
      if (request.given.has('identify')) return identifyFirst(request, refused, newest);
      const lines = refused.map(({ receivedAt, code, bytes, headers, rawBody, encoding }) => [
        ...[receivedAt, code, bytes, Object.keys(headers).join(' ')],
        encoding === undefined ? rawBody.slice(0, 60) : '(not UTF-8)',
      ]);
      const none = 'Nothing was refused that another scheme, secret or tolerance could cure.';
      const head = ['RECEIVED AT', 'REFUSED BECAUSE', 'BYTES', 'HEADERS', 'BODY'];
      return [paragraphs(refused.length === 0 ? none : table([head, ...lines]), newest), refused];
    },
    async recover(inbox, { scheme, toleranceSeconds }) {
      const result = await inbox.recover({ secret: await webhookSecret(), scheme, toleranceSeconds });
      const { recovered, duplicates, refused } = result;
      const isOk = recovered + duplicates > 0 || refused === 0;
      const text = `${recovered} recovered, ${duplicates} stored before, ${refused} still refused`;
      const advice = !isOk && 'To find the scheme that signed them, run `refused --identify`.';
      return [paragraphs(verdict(isOk, text), advice), result, isOk];
    },
  }),
);

const lateCodes = ['timestamp_too_old', 'timestamp_in_future'];

/** Shows the first that a scheme fits: others may be of strangers. Late ones come last, for their scheme was right. */
async function identifyFirst({ given, scheme }: Request, refused: RefusedEntry[], newest: string | false) {
  if (refused.length === 0) throw new CommandError('Nothing was refused, so there is nothing to identify.');
  const secret = await webhookSecret();
  const url = given.text('url');
  const isLate = ({ code }: RefusedEntry) => Number(lateCodes.includes(code));
  let last: Identification | undefined;
  for (const delivery of refused.toSorted((one, other) => isLate(one) - isLate(other))) {
    const { encoding, headers } = delivery;
    const rawBody = Buffer.from(delivery.rawBody, encoding ?? 'utf8');
    try {
      const { signatureHeader, timestampHeader } = scheme ?? {};
      last = identifyScheme({ rawBody, headers, secret, url, signatureHeader, timestampHeader });
      if (last.found) break;
    } catch (error) {
      // Such as one without a timestamp.
      if (!(error instanceof WebhookVerificationError)) throw error;
    }
  }
  if (!last) throw new CommandError('None of the refused deliveries has a signature and a timestamp.');
  if (last.found) last.notes.push(...lateness(refused, { secret, scheme: last.scheme }));
  else if (!scheme) last.notes.push('If openInbox() has header names of its own, pass them as --scheme.');
  if (newest) last.notes.push(newest);
  return [describeIdentification(last), last, last.found] as const;
}

/** What `recover` also needs where deliveries are not fresh by the scheme that was found. */
function lateness(refused: readonly RefusedEntry[], found: Pick<RecoverOptions, 'secret' | 'scheme'>) {
  const checks = readGivenChecks('recover', { secret: found.secret, scheme: found.scheme });
  const skews = refused.flatMap((entry) => {
    try {
      recoverDelivery(checks, entry);
    } catch (error) {
      if (error instanceof WebhookVerificationError) return error.skewSeconds ?? [];
    }
    return [];
  });
  const [furthest] = skews.toSorted((one, other) => Math.abs(other) - Math.abs(one));
  if (furthest === undefined) return [];
  const seconds = Math.abs(furthest);
  const side = furthest > 0 ? 'before' : 'after';
  return [
    `By your server's clock, ${skews.length} came late or early, the furthest signed ${seconds} s ${side} its arrival: recover it with --tolerance ${Math.ceil(seconds / 60)}m.`,
  ];
}

function notWaiting(key: string, force = false): CommandError {
  const states = force ? 'pending, running or parked' : 'pending or parked';
  return new CommandError(`There is no delivery ${JSON.stringify(key)} that is ${states}.`);
}

function table(rows: readonly (readonly unknown[])[]): string {
  const cells = rows.map((row) => row.map((cell) => visible(String(cell ?? '-'))));
  return columns(cells, '   ');
}
