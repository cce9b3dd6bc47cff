import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { filesIn } from '../helpers/files.js';

/** The beginning of a comment in src/: a line of `//`, or the first line of a block. */
const begins = /(?:^|\s)(?:\/\*\*?|\/\/) +(\S+)/;
/** A comment that begins like this has no subject of its own: "Whether it ended", "What was sent". */
const withoutSubject = /^(?:What|Whether|Why|How|Where|Who)$/;

test('of a hundred comments at most one begins without a subject', () => {
  const comments = filesIn('src')
    .filter((name) => name.endsWith('.ts'))
    .flatMap((name) =>
      readFileSync(`src/${name}`, 'utf8')
        .split('\n')
        .flatMap((line, index) => {
          const [, word] = begins.exec(line) ?? [];
          return word === undefined ? [] : [{ at: `src/${name}:${index + 1}`, word }];
        }),
    );
  const found = comments.filter(({ word }) => withoutSubject.test(word)).map(({ at }) => at);
  expect(comments.length).toBeGreaterThan(1000);
  expect(found.length / comments.length, found.join('\n')).toBeLessThan(0.01);
});
