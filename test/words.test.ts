import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { filesIn } from './helpers/files.js';

/** A phrase that reads like a translation, and the one to write. Patterns hit the phrase and leave other uses alone. */
const phrases: readonly (readonly [RegExp, string])[] = [
  [/\bmend(s|ed|ing)?\b/i, 'fix'],
  [/\bcannot be meant\b/i, 'is invalid'],
  [/`url`\s+is\s+sure\b|\bis sure to\b/i, 'only `url` is guaranteed'],
  [/\bpages under way\b|\bup to \w+ (pages )?under way\b/i, 'pages in flight'],
  [/\bpass it as text\b|\btext values\b|\bvalues? that (is|are) not text\b/i, 'pass a string; string values'],
  [/\b(apiKey|value|secret|prefix|baseUrl|name) is not text\b/i, 'is not a string'],
  [/\bdecimal text\b/i, 'decimal string'],
  [/\bservice(?:'s)? answers?\b|\banswer of the service\b|\bwas answered by\b/i, 'response'],
  [/\b(the|a|each|of|which|this|that) moments?\b(?! (that|after))/i, 'timestamp, or date'],
  [/\b(one of|on) several machines\b|\bon every machine\b/i, 'instance, server'],
  [/\bonce, at least\b/i, 'at-least-once'],
  [/\bso that the (sender|service) (comes|tries) again\b|\bthe sender (comes|tries) again\b/i, 'retries'],
  [/\bevery sender behaves\b/i, 'assume this of any sender'],
  [/\bshop leans on\b|\brows that your\b/i, 'what your integration depends on'],
  [/\blead a public address\b|\bhave it listen\b/i, 'start it and expose it with a tunnel'],
  [/\brefuses what is right\b/i, 'valid webhooks are rejected'],
  [/\brightly signed\b|\bsigned rightly\b/i, 'validly signed'],
  [/\b(secret|key) of now\b/i, 'current secret'],
  [/\b5xx that pass\b/i, 'transient 5xx errors'],
  [/\bcan tell about its response\b/i, 'exposes response metadata'],
  [/\bnothing is sent twice\b|\bnothing is done twice\b/i, 'writes are never retried blindly'],
  [/\bcannot be fooled\b/i, 'say what is checked'],
  [/\bagain what was not taken\b/i, 'retries those that were not accepted'],
  [/\blooks again whether\b/i, 'must check again that'],
  [/\bwhat was given in the place of\b/i, 'what was passed instead of'],
  [/\bfor what is none\b/i, 'returns `undefined` if invalid'],
  [/\bcome again\b|\bcomes again\b/i, 'is delivered again; retries'],
  [/\banswer first\b|\bwork later\b/i, 'respond first, then do the work'],
  [/webhook secret from (the dashboard|Webhook Settings)/i, 'ask the service which secret signs'],
  [/three values (change|and no code)|changes? (these )?three values/i, 'the scheme may change the code'],
];

const skipped = /node_modules|^docs\/api\//;

function pathsIn(folder: string, name: RegExp): string[] {
  return filesIn(folder)
    .map((path) => `${folder}/${path}`)
    .filter((path) => name.test(path) && !skipped.test(path));
}

const files = [
  ...['README.md', 'AGENTS.md', 'llms.txt', 'CONTRIBUTING.md', 'CHANGELOG.md', 'SECURITY.md'],
  ...pathsIn('docs', /\.md$/),
  ...pathsIn('examples', /\.(md|tsx?)$/),
  ...pathsIn('src', /\.ts$/),
];

/** What is read by people: whole files, with line breaks inside a sentence undone, and the titles of tests. */
const texts = [
  ...files.map((file) => ({
    file,
    text: readFileSync(file, 'utf8').replaceAll(/\n\s*(\*|\/\/)? ?(?=\S)/g, ' '),
  })),
  ...pathsIn('test', /\.test\.ts$/)
    .filter((file) => !file.endsWith('words.test.ts'))
    .map((file) => ({
      file,
      text: [
        ...readFileSync(file, 'utf8').matchAll(
          /\b(?:test|it|describe)(?:\.\w+)*(?:\([^'"`\n]*\))?\(\s*(['"`])(.*?)\1,/gs,
        ),
      ]
        .map(([, , title]) => title)
        .join('\n'),
    })),
];

test.each(phrases)('nobody reads %s', (phrase, instead) => {
  const found = texts.flatMap(({ file, text }) =>
    [...text.matchAll(new RegExp(phrase, `${phrase.flags}g`))].map(
      ({ index }) => `${file}: …${text.slice(Math.max(0, index - 40), index + 60)}…`,
    ),
  );
  expect(found, `write: ${instead}`).toEqual([]);
});

test('the texts of the package are found', () => {
  expect(files.length).toBeGreaterThan(100);
  expect(texts.filter(({ file, text }) => file.startsWith('test/') && text !== '').length).toBeGreaterThan(
    20,
  );
});
