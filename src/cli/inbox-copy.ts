import { actionAt, tableText } from './inbox-action.js';
import { withStore } from './inbox-place.js';
import { paragraphs, refuseUnless, verdict } from './terminal.js';

export const copy = actionAt(
  {
    name: 'copy',
    summary:
      'copies every delivery and the quarantine into another inbox: from a file to PostgreSQL, or back',
    usage: ` --to <file>|<postgres://…>

What is running is pending in the copy. A key that is there already is left as it is, so run it again for what came in
meanwhile. The source is not changed. Between two databases, --schema is that of both.`,
    example: ' --to postgres://user@db.example/shop',
    flags: { to: ['<place>', 'the file or URL of the other inbox, which is made if there is none'] },
  },
  async (place, given) => {
    const to = given.text('to');
    refuseUnless(to, 'Pass --to with the file or URL of the other inbox.');
    refuseUnless(to.trim() !== place.trim(), 'Both are the same inbox. Pass --to with another one.');
    const schema = given.text('schema');
    const schemaOf = (name: string) => (/^\s*postgres/i.test(name) ? schema : undefined);
    const result = await withStore(place, schemaOf(place), (source) =>
      withStore(to, schemaOf(to), (target) => source.copyTo(target), true),
    );
    const { copied, present, refused, refusedPresent } = result;
    const counts = Object.entries(copied).filter(([state]) => state !== 'running');
    const total = counts.reduce((sum, [, count]) => sum + count, 0);
    const text = paragraphs(
      verdict(true, `${total} deliveries copied, ${present} were there`),
      tableText([...counts, ['refused', refused], ['refused, were there', refusedPresent]]),
    );
    return [text, result];
  },
);
