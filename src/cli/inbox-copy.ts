import { copyBook } from '../inbox/copy-book.js';
import { actionAt, tableText } from './inbox-action.js';
import { type Tables, withTables } from './inbox-place.js';
import { paragraphs, refuseUnless, verdict } from './terminal.js';

export const copy = actionAt(
  {
    name: 'copy',
    summary:
      'copies deliveries, quarantine and order book into another inbox: from a file to PostgreSQL, or back',
    usage: ` --to <file>|<postgres://…>

What is running is pending in the copy. A key that is there already is left as it is, so run it again for what came in
meanwhile; an order or payment of the book takes over what has happened to it since. The source is not changed. Between two databases, --schema is that of both.`,
    example: ' --to postgres://user@db.example/shop',
    flags: { to: ['<place>', 'the file or URL of the other inbox, which is made if there is none'] },
  },
  async (place, given) => {
    const to = given.text('to');
    refuseUnless(to, 'Pass --to with the file or URL of the other inbox.');
    refuseUnless(to.trim() !== place.trim(), 'Both are the same inbox. Pass --to with another one.');
    const schema = given.text('schema');
    const schemaOf = (name: string) => (/^\s*postgres/i.test(name) ? schema : undefined);
    const copyTables = async (source: Tables, target: Tables) => ({
      ...(await source.store.copyTo(target.store)),
      ...((await source.hasBook()) && (await copyBook(source.openBook(), target.openBook()))),
    });
    const result = await withTables(place, schemaOf(place), (source) =>
      withTables(to, schemaOf(to), (target) => copyTables(source, target), true),
    );
    const { copied, present, refused, refusedPresent, orders, payments } = result;
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
    const text = paragraphs(
      verdict(true, `${total} deliveries copied, ${present} were there`),
      tableText([...counts, ['refused', refused], ['refused, were there', refusedPresent], ...book]),
    );
    return [text, result];
  },
);
