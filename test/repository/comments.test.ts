import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';

/** The beginning of a comment: a line of `//`, or the first line of a block. */
const begins = /(?:^|\s)(?:\/\*\*?|\/\/) +(\S+)/;
/** A comment that begins like this has no subject of its own: "Whether it ended", "What was sent". */
const withoutSubject = /^(?:What|Whether|Why|How|Where|Who)$/;

test.each([
  ['src', 1000],
  ['test', 300],
  ['compat', 200],
  ['examples', 100],
  ['scripts', 80],
  ['bench', 80],
])('in %s, of a hundred comments at most one begins without a subject', (folder, least) => {
  const comments = execFileSync('git', ['ls-files', '-z', folder], { encoding: 'utf8' })
    .split('\0')
    .filter((name) => /\.(?:[cm]?[jt]s|tsx)$/.test(name))
    .flatMap((name) =>
      readFileSync(name, 'utf8')
        .split('\n')
        .flatMap((line, index) => {
          const [, word] = begins.exec(line) ?? [];
          return word === undefined ? [] : [{ at: `${name}:${index + 1}`, word }];
        }),
    );
  const found = comments.filter(({ word }) => withoutSubject.test(word)).map(({ at }) => at);
  expect(comments.length).toBeGreaterThan(least);
  expect(found.length / comments.length, found.join('\n')).toBeLessThan(0.01);
});
