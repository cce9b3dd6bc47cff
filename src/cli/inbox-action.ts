import type { Inbox } from '../inbox/open-inbox.js';
import { escapeInvisible } from '../input/visible.js';
import { type Command, command, type Flag, type Flags, refuseWords } from './command.js';
import { withInbox } from './inbox-place.js';
import { columns, refuseUnless, show, variable } from './terminal.js';

/** Flags of every action. */
const everyFlag = {
  schema: ['<name>', 'the schema of its tables in PostgreSQL; default payments_inbox'],
  json: ['', 'prints the result as JSON'],
} satisfies Record<string, Flag>;

type EveryFlag = keyof typeof everyFlag;

export type Result = readonly [text: string, json: unknown, isOk?: boolean];

/** The description of an action, with the number of words that may follow the place and the action's name. */
interface ActionAbout<Name extends string> extends Pick<Command, 'summary'> {
  name: string;
  usage: string;
  example: string;
  flags?: Readonly<Record<Name, Flag>>;
  words?: number;
}

interface Action<Name extends string> extends ActionAbout<Name> {
  /** Reads the flags and words before the inbox is opened. Returns the function that then works with the inbox. */
  plan(given: Flags<Name | EveryFlag>, words: readonly string[]): (inbox: Inbox) => Promise<Result>;
}

/** Returns an action of `inbox`, which is a command that opens the inbox first. */
export function action<const Name extends string = never>({ plan, ...about }: Action<Name>): Command {
  return actionAt(about, async (place, given, words) => {
    const act = plan(given, words);
    return withInbox(place, given.text('schema'), act);
  });
}

/** Returns an action of `inbox` that opens the tables it needs itself. */
export function actionAt<const Name extends string = never>(
  { name, usage, example, summary, flags, words: most = 0 }: ActionAbout<Name>,
  run: (place: string, given: Flags<Name | EveryFlag>, words: readonly string[]) => Promise<Result>,
): Command {
  return command<string>({
    summary,
    usage: `inbox <file>|<postgres://…> ${name}${usage}`,
    example: `inbox orders.sqlite ${name}${example}`,
    flags: { ...flags, ...everyFlag },
    words: most + 2,
    async run(given) {
      const { place, words } = partsOf(given.positionals, name);
      refuseWords(words.slice(most));
      refuseUnless(place, 'Pass the file of the inbox or the URL of its database, or set DATABASE_URL.');
      const [text, json, isOk = true] = await run(place, given, words);
      return show(given.has('json'), json, () => text, isOk);
    },
  });
}

/** Splits the arguments into place and words. Without a place, DATABASE_URL is the place. The action's name may be left out. */
function partsOf(positionals: readonly string[], name: string) {
  const [first, ...rest] = positionals;
  if (first === name) return { place: variable('DATABASE_URL'), words: rest };
  const place = first ?? variable('DATABASE_URL');
  return { place, words: rest[0] === name ? rest.slice(1) : rest };
}

/** Returns the key of a delivery, which is an action's first word. Throws if it is missing. */
export function readKeyWord([key = '']: readonly string[]): string {
  refuseUnless(key, 'Pass the key of a delivery, such as order.paid:ord_1001.');
  return key;
}

/** Reads the flag --tolerance, in seconds; `undefined` if it was not passed. */
export function readTolerance(given: Flags<'tolerance'>): number | undefined {
  const ms = given.duration('tolerance', '1ms');
  return ms === undefined ? undefined : ms / 1000;
}

export function tableText(rows: readonly (readonly unknown[])[]): string {
  const cells = rows.map((row) => row.map((cell) => escapeInvisible(String(cell ?? '-'))));
  return columns(cells, '   ');
}
