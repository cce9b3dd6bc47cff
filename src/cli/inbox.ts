import { identifyScheme } from '../doctor/identify.js';
import { WebhookVerificationError } from '../errors.js';
import type { InboxEntry, RefusedDelivery } from '../inbox/entry.js';
import type { Inbox } from '../inbox/open-inbox.js';
import { readDuration } from '../inbox/options.js';
import { schemaSql } from '../inbox/postgres-tables.js';
import type { SignatureScheme } from '../webhooks/index.js';
import type { Command } from './command.js';
import { Flags } from './flags.js';
import { printIdentification } from './identify.js';
import { withInbox } from './inbox-place.js';
import { readSchemeFlag, schemeFlag } from './scheme-flag.js';
import { CommandError, paint, UsageError } from './terminal.js';
import { webhookSecret } from './webhook-secret.js';

const flags = {
  parked: { text: 'with retry: every parked delivery' },
  force: { text: 'with retry: also a running delivery, whose function may be stuck' },
  'older-than': { value: '<time>', text: 'with purge: such as 90d, 12h' },
  identify: {
    text: 'with refused: finds the scheme that signed them; the secret is read from PAYMENTS_WEBHOOK_SECRET',
  },
  scheme: {
    ...schemeFlag,
    text: 'with recover: the scheme, as JSON or as a file written by `identify --json`',
  },
  schema: { value: '<name>', text: 'the schema of its tables in PostgreSQL; default public' },
  'print-schema': { text: 'prints the migration that creates the tables in PostgreSQL' },
  json: { text: 'prints the result as JSON' },
} as const;

const usage = `inbox <file>|<postgres://…>             states, and what is parked
       merchant-payments inbox <file> show <key>
       merchant-payments inbox <file> retry <key> [--force] | --parked
       merchant-payments inbox <file> discard <key>
       merchant-payments inbox <file> purge --older-than 90d
       merchant-payments inbox <file> refused [--identify]
       merchant-payments inbox <file> recover [--scheme '{…}']
       merchant-payments inbox --print-schema [--schema <name>]

Without a file or URL, DATABASE_URL is used; PostgreSQL needs the package "pg" of your shop. A running server may have the
inbox open; it takes up what you retry or recover.`;

/** Shows the file of an inbox; retries, discards and purges its deliveries, and recovers what was refused. */
export const inbox: Command = {
  summary: 'shows the webhooks stored by openInbox(), retries and discards them, recovers refused ones',
  usage,
  example: 'inbox orders.sqlite',
  flags,
  async run(args) {
    const given = new Flags(flags, args);
    const schema = given.text('schema');
    if (given.has('print-schema')) {
      if (given.positionals.length > 0)
        throw new UsageError('--print-schema opens no inbox: pass nothing else.');
      process.stdout.write(`${schemaSql(schema)}\n`);
      return 0;
    }
    const names = [...given.positionals];
    const place =
      names[0] === undefined || Object.hasOwn(actions, names[0]) ? process.env.DATABASE_URL : names.shift();
    if (!place)
      throw new UsageError('Pass the file of the inbox or the URL of its database, or set DATABASE_URL.');
    const [action = 'stats', key, ...rest] = names;
    const act = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (!act)
      throw new UsageError(
        `${JSON.stringify(action)} is no action. Known are ${Object.keys(actions).join(', ')}.`,
      );
    if (rest.length > 0) throw new UsageError('Pass one key.');
    const request: Request = {
      key,
      isAll: given.has('parked'),
      force: given.has('force'),
      olderThan: given.text('older-than'),
      identify: given.has('identify'),
      scheme: readSchemeFlag(given.text('scheme')),
      json: given.has('json'),
    };
    act.check(request);
    const result = await withInbox(place, schema, (opened) => act.run(opened, request));
    if ('exitCode' in result) return result.exitCode;
    process.stdout.write(`${request.json ? escaped(JSON.stringify(result.json)) : result.text}\n`);
    return 0;
  },
};

interface Request {
  key: string | undefined;
  isAll: boolean;
  force: boolean;
  olderThan: string | undefined;
  identify: boolean;
  scheme: Partial<SignatureScheme> | undefined;
  json: boolean;
}

interface Action {
  /** Refuses what is invalid, before the file is opened. */
  check(request: Request): void;
  run(inbox: Inbox, request: Request): Promise<{ text: string; json: unknown } | { exitCode: number }>;
}

const actions: Readonly<Record<string, Action>> = {
  stats: {
    check: refuseKey,
    async run(inbox) {
      const stats = await inbox.stats();
      const parked = await inbox.list({ state: 'parked' });
      const rows = Object.entries(stats).map(([name, count]) => [name, count === null ? '-' : String(count)]);
      const lines = parked.map(({ key, attempts, lastError }) => [key, `${attempts}`, lastError ?? '']);
      const text =
        parked.length === 0 ? '' : `\n\n${table([['PARKED', 'ATTEMPTS', 'LAST ERROR'], ...lines])}`;
      return { text: table(rows) + text, json: { ...stats, parkedDeliveries: parked } };
    },
  },
  show: {
    check: needKey,
    async run(inbox, { key = '' }) {
      const entry = await inbox.get(key);
      if (!entry) throw new CommandError(`There is no delivery ${JSON.stringify(key)}.`);
      return { text: described(entry), json: entry };
    },
  },
  retry: {
    check: (request) => (request.isAll ? refuseKey(request) : needKey(request)),
    async run(inbox, { key = '', isAll, force }) {
      const count = isAll ? await inbox.retryParked() : Number(await inbox.retry(key, { force }));
      if (!isAll && count === 0) throw notWaiting(key, force);
      return { text: paint('green', `✓ ${count} due now`), json: { retried: count } };
    },
  },
  discard: {
    check: needKey,
    async run(inbox, { key = '' }) {
      if (!(await inbox.discard(key))) throw notWaiting(key);
      return { text: paint('green', '✓ discarded'), json: { discarded: 1 } };
    },
  },
  purge: {
    check(request) {
      refuseKey(request);
      ageOf(request);
    },
    async run(inbox, request) {
      const count = await inbox.purge({ olderThan: ageOf(request) });
      return { text: paint('green', `✓ ${count} purged; their keys stay known`), json: { purged: count } };
    },
  },
  refused: {
    check: refuseKey,
    async run(inbox, { identify, json }) {
      const refused = await inbox.refused({ limit: 1000 });
      if (identify) return { exitCode: await identifyFirst(refused, json) };
      const lines = refused.map(({ receivedAt, code, bytes, headers, rawBody, encoding }) => [
        ...[receivedAt, code, `${bytes}`, Object.keys(headers).join(' ')],
        encoding === undefined ? rawBody.slice(0, 60) : '(not UTF-8)',
      ]);
      const text =
        refused.length === 0
          ? 'Nothing was refused that another scheme or secret could prove authentic.'
          : table([['RECEIVED AT', 'REFUSED BECAUSE', 'BYTES', 'HEADERS', 'BODY'], ...lines]);
      return { text, json: refused };
    },
  },
  recover: {
    check: refuseKey,
    async run(inbox, { scheme }) {
      const result = await inbox.recover({ scheme });
      const { recovered, duplicates, refused } = result;
      const text = `✓ ${recovered} recovered, ${duplicates} stored before, ${refused} still refused`;
      return { text: paint(recovered > 0 ? 'green' : 'yellow', text), json: result };
    },
  },
};

/** Among refused deliveries may be those of strangers, which no scheme fits: the first that one fits is shown. */
async function identifyFirst(refused: readonly RefusedDelivery[], json: boolean): Promise<number> {
  if (refused.length === 0) throw new CommandError('The quarantine is empty: there is nothing to identify.');
  const secret = await webhookSecret();
  let last: ReturnType<typeof identifyScheme> | undefined;
  for (const { rawBody, encoding, headers } of refused) {
    try {
      last = identifyScheme({ rawBody: Buffer.from(rawBody, encoding ?? 'utf8'), headers, secret });
      if (last.found) break;
    } catch (error) {
      // Such as one without a timestamp.
      if (!(error instanceof WebhookVerificationError)) throw error;
    }
  }
  if (!last) throw new CommandError('None of the refused deliveries has a signature and a timestamp.');
  return printIdentification(last, json);
}

function refuseKey({ key }: Request): void {
  if (key !== undefined) throw new UsageError(`${JSON.stringify(key)} is too much here.`);
}

function needKey({ key }: Request): void {
  if (key === undefined) throw new UsageError('Pass the key of a delivery, such as order.paid:ord_1001.');
}

function ageOf({ olderThan }: Request): number {
  const ms = readDuration(olderThan);
  if (ms === undefined) throw new UsageError('Pass --older-than with a duration such as 90d or 12h.');
  return ms;
}

function notWaiting(key: string, force = false): CommandError {
  const states = force ? 'pending, running or parked' : 'pending or parked';
  return new CommandError(`There is no delivery ${JSON.stringify(key)} that is ${states}.`);
}

function described({ event, ...entry }: InboxEntry): string {
  const rows = Object.entries(entry).map(([name, value]) => [name, value === null ? '-' : String(value)]);
  return `${table(rows)}\n\n${event === null ? 'purged' : JSON.stringify(event, undefined, 2)}`;
}

function table(rows: readonly (readonly string[])[]): string {
  const widths = (rows[0] ?? []).map((_, column) =>
    Math.max(...rows.map((row) => (row[column] ?? '').length)),
  );
  return rows
    .map((row) =>
      row
        .map((cell, column) => printable(cell).padEnd(widths[column] ?? 0))
        .join('   ')
        .trimEnd(),
    )
    .join('\n');
}

/** Text from outside must not contain terminal control characters. */
function printable(text: string): string {
  return text.replaceAll(/\p{C}/gu, '?');
}

/** The same in JSON, which stays JSON. */
function escaped(json: string): string {
  return json.replaceAll(/[\p{C}\u2028\u2029]/gu, (text) =>
    Array.from(
      { length: text.length },
      (_, at) => `\\u${text.charCodeAt(at).toString(16).padStart(4, '0')}`,
    ).join(''),
  );
}
