import { realpathSync } from 'node:fs';
import { copyBook } from '../inbox/copy-book.js';
import { actionAt, tableText } from './inbox-action.js';
import { type Tables, withTables } from './inbox-place.js';
import { paragraphs, refuseUnless, verdict } from './terminal.js';

export const copy = actionAt(
  {
    name: 'copy',
    summary:
      'copies deliveries, refused deliveries and order book into another inbox: from a file to PostgreSQL, or back',
    usage: ` --to <file>|<postgres://…>

Stop the server of the source first. Until the copy is made, the server of the copy may store webhooks with work: false, and
takes no orders. A delivery that is running in the source is pending in the copy. A delivery that the copy already has stays as
it is, but is done if the source has done it and the copy has never run it. An order or payment that the copy already has
takes over what has happened to it since. The exit code is 1 if open orders ask for the same amount, or if a delivery has
run in both. The source is not changed. Between two PostgreSQL databases, --schema is the schema of both.`,
    example: ' --to postgres://user@db.example/shop',
    flags: { to: ['<place>', 'the file or URL of the other inbox, which is made if there is none'] },
  },
  async (place, given) => {
    const to = given.text('to');
    refuseUnless(to, 'Pass --to with the file or URL of the other inbox.');
    refuseUnless(
      realPath(to.trim()) !== realPath(place.trim()),
      'Both are the same inbox. Pass --to with another one.',
    );
    const schema = given.text('schema');
    const schemaOf = (name: string) => (/^\s*postgres/i.test(name) ? schema : undefined);
    const copyTables = async (source: Tables, target: Tables) => ({
      ...(await source.store.copyTo(target.store)),
      ...((await source.hasBook()) && (await copyBook(source.openBook(), target.openBook()))),
    });
    const result = await withTables(place, schemaOf(place), (source) =>
      withTables(to, schemaOf(to), (target) => copyTables(source, target), true),
    );
    const { copied, present, doneSince, ranInBoth, refused, refusedPresent, orders, payments } = result;
    const sameAmount = result.sameAmount ?? [];
    const book = Object.entries({ orders, payments }).flatMap(([name, counted]) =>
      counted
        ? [
            [name, counted.copied],
            [`${name}, were there`, counted.present],
          ]
        : [],
    );
    const counts = Object.entries(copied).filter(([state]) => state !== 'running');
    const total = counts.reduce((sum, [, count]) => sum + count, 0);
    const isOk = ranInBoth.length + sameAmount.length === 0;
    const done = doneSince > 0 ? `; ${doneSince} of these are done since` : '';
    const text = paragraphs(
      verdict(isOk, `${total} deliveries copied, ${present} were there${done}`),
      tableText([...counts, ['refused', refused], ['refused, were there', refusedPresent], ...book]),
      ranInBoth.length > 0 &&
        `Done in the source, and have run in the copy too. Check that each was fulfilled once:\n${tableText(ranInBoth.map((key) => [key]))}`,
      sameAmount.length > 0 &&
        `Open orders that ask for the same amount. Cancel one of them, or decide on their payments by hand:\n${tableText(
          sameAmount.map(({ amount, currency, id }) => [amount, currency, id]),
        )}`,
    );
    return [text, result, isOk];
  },
);

/** Returns the path of a file without links; a URL, or a file that is yet to be made, as it is. */
function realPath(name: string): string {
  try {
    return realpathSync(name);
  } catch {
    return name;
  }
}
