import { readDuration } from '../inbox/duration.js';
import { Entries, type InboxEntry } from '../inbox/entries.js';
import { openFile } from '../inbox/open-database.js';
import type { Command } from './command.js';
import { Flags } from './flags.js';
import { CommandError, paint, UsageError } from './terminal.js';

const flags = {
  parked: { text: 'with retry: every parked delivery' },
  'older-than': { value: '<time>', text: 'with purge: such as 90d, 12h' },
  json: { text: 'prints the result as JSON' },
} as const;

const usage = `inbox <file>                            states, and what is parked
       merchant-payments inbox <file> show <key>
       merchant-payments inbox <file> retry <key>|--parked
       merchant-payments inbox <file> discard <key>
       merchant-payments inbox <file> purge --older-than 90d

A running server may have the file open; it takes up what you retry.`;

/** Shows the file of an inbox; retries, discards and purges its deliveries. */
export const inbox: Command = {
  summary: 'shows the webhooks stored by openInbox(), retries and discards them',
  usage,
  flags,
  async run(args) {
    const given = new Flags(flags, args);
    const [file, action = 'stats', key, ...rest] = given.positionals;
    if (file === undefined) throw new UsageError('Pass the file of the inbox.');
    const act = Object.hasOwn(actions, action) ? actions[action] : undefined;
    if (!act)
      throw new UsageError(
        `${JSON.stringify(action)} is no action. Known are ${Object.keys(actions).join(', ')}.`,
      );
    if (rest.length > 0) throw new UsageError('Pass one key.');
    const request = { key, isAll: given.has('parked'), olderThan: given.text('older-than') };
    act.check(request);
    const database = openFile(file, { create: false });
    try {
      const result = act.run(new Entries(database), request);
      process.stdout.write(`${given.has('json') ? JSON.stringify(result.json) : result.text}\n`);
    } finally {
      database.close();
    }
    return 0;
  },
};

interface Request {
  key: string | undefined;
  isAll: boolean;
  olderThan: string | undefined;
}

interface Action {
  /** Refuses what is invalid, before the file is opened. */
  check(request: Request): void;
  run(entries: Entries, request: Request): { text: string; json: unknown };
}

const actions: Readonly<Record<string, Action>> = {
  stats: {
    check: refuseKey,
    run(entries) {
      const stats = entries.stats(Date.now());
      const parked = entries.list('parked', 100, undefined);
      const rows = Object.entries(stats).map(([name, count]) => [name, count === null ? '-' : String(count)]);
      const lines = parked.map(({ key, attempts, lastError }) => [key, `${attempts}`, lastError ?? '']);
      const text =
        parked.length === 0 ? '' : `\n\n${table([['PARKED', 'ATTEMPTS', 'LAST ERROR'], ...lines])}`;
      return { text: table(rows) + text, json: { ...stats, parkedDeliveries: parked } };
    },
  },
  show: {
    check: needKey,
    run(entries, { key = '' }) {
      const entry = entries.get(key);
      if (!entry) throw new CommandError(`There is no delivery ${JSON.stringify(key)}.`);
      return { text: described(entry), json: entry };
    },
  },
  retry: {
    check: (request) => (request.isAll ? refuseKey(request) : needKey(request)),
    run(entries, { key, isAll }) {
      const count = entries.retry(isAll ? undefined : key, Date.now());
      if (!isAll && count === 0) throw notWaiting(key);
      return { text: paint('green', `✓ ${count} due now`), json: { retried: count } };
    },
  },
  discard: {
    check: needKey,
    run(entries, { key = '' }) {
      if (!entries.discard(key, Date.now())) throw notWaiting(key);
      return { text: paint('green', '✓ discarded'), json: { discarded: 1 } };
    },
  },
  purge: {
    check(request) {
      refuseKey(request);
      ageOf(request);
    },
    run(entries, request) {
      const count = entries.purge(Date.now() - ageOf(request));
      return { text: paint('green', `✓ ${count} purged; their keys stay known`), json: { purged: count } };
    },
  },
};

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

function notWaiting(key = ''): CommandError {
  return new CommandError(`There is no delivery ${JSON.stringify(key)} that is pending or parked.`);
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
