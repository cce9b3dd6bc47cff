import { schemaSql } from '../inbox/postgres-tables.js';
import { type Command, command, refuseWords } from './command.js';
import { copy } from './inbox-copy.js';
import { accept, discard, list, purge, retry, showOne, stats } from './inbox-deliveries.js';
import { find } from './inbox-find.js';
import { decideHeld } from './inbox-held.js';
import { listRefused, recoverRefused } from './inbox-refused.js';
import { columns, print, refuseUnknown } from './terminal.js';

const actions = new Map<string, Command>(
  Object.entries({
    stats,
    list,
    find,
    show: showOne,
    retry,
    discard,
    purge,
    refused: listRefused,
    recover: recoverRefused,
    accept,
    copy,
    held: decideHeld,
  }),
);

/** Flags of actions that take a value as the next word. */
const valued = [
  '--schema',
  '--url',
  '--scheme',
  '--tolerance',
  '--older-than',
  '--to',
  '--decide',
  '--order',
  '--dismiss',
];

const summaries = columns(
  [...actions].map(([name, { summary }]) => [`  ${name}`, summary]),
  '   ',
);

export const inbox = command({
  summary: 'shows the webhooks stored by openInbox(), retries and discards them, recovers refused ones',
  usage: `inbox <file>|<postgres://…> [<action>] [flags]
       merchant-payments inbox <action> --help
       merchant-payments inbox --print-schema [--schema <name>]

Actions; without one, stats:
${summaries}

Without a file or URL, DATABASE_URL is used; PostgreSQL needs the package "pg" of your shop. A running server may have the
inbox open; it takes up what you retry or recover.`,
  example: 'inbox orders.sqlite list --pending',
  flags: {
    'print-schema': ['', 'prints the migration that creates the tables in PostgreSQL'],
    schema: ['<name>', 'the schema of its tables in PostgreSQL; default payments_inbox'],
  },
  actionOf: (args) => {
    if (args.includes('--print-schema')) return undefined;
    const words = args.filter((word, at) => !word.startsWith('-') && !valued.includes(args[at - 1] ?? ''));
    const [first = '', second] = words;
    const asksHelp = words.length === 0 && args.some((word) => word === '--help' || word === '-h');
    if (asksHelp) return undefined;
    if (actions.has(first)) return actions.get(first);
    const act = actions.get(second ?? 'stats');
    return act ?? refuseUnknown(second ?? '', 'an action', [...actions.keys()]);
  },
  async run(given) {
    refuseWords(given.positionals);
    print(schemaSql(given.text('schema')));
    return 0;
  },
});
