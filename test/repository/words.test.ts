import { readdirSync, readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { filesIn } from '../helpers/files.js';

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
  [/\b(answer|respond( 200)?) first\b|\bwork later\b/i, 'store, respond 200, fulfil in the background'],
  [/webhook secret from (the dashboard|Webhook Settings)/i, 'ask the service which secret signs'],
  [/\bthe whole service on your\b/i, 'a local sandbox that emulates the whole API'],
  [/\bby self-service\b/i, "You can't create test keys in the dashboard."],
  [/\bwhen the cause is gone\b/i, 'fix the cause, then retry'],
  [/\bstill lacks\b/i, "What's missing"],
  [/\bnor which secret\b/i, 'or which secret is used'],
  [/\bgives other bytes\b/i, "doesn't reproduce the same bytes"],
  [/\bnot proved to come from\b/i, 'not proven authentic'],
  [/\banswered (with )?200\b/i, 'gets a 200'],
  [/\bwith the note that it is done\b/i, 'and mark it done in the same transaction'],
  [/\bThere is nothing to operate\b/i, 'No extra infrastructure.'],
  [/\bWhat stays with you\b/i, 'Your responsibilities'],
  [/\bties? none of them\b/i, 'link none of them to'],
  [/\bwhen you will be back\b/i, "when they'll hear from you"],
  [/\ba surplus may be for\b/i, 'that could explain a surplus'],
  [/\bis refused with 401 in another\b/i, "Keys don't work across environments (401)"],
  [/\border one, see what is left\b/i, 'inject, list, clear'],
  [/\bno order is promised\b/i, "order isn't guaranteed"],
  [/\bor is asked for\b/i, "or you're prompted for it"],
  [/\bwebhook that it is set to\b/i, 'its configured webhook'],
  [/\bsends what is no data\b/i, 'sends malformed data'],
  [/\btext that makes a pattern slow\b/i, 'input that triggers ReDoS'],
  [/\bTake it without reading\b/i, 'safe to upgrade'],
  [/\bstate of the resource forbids\b/i, 'returned 409, and the words of the service'],
  [/\bso it cannot be told\b/i, 'may or may not have happened'],
  [/\bof another version than this command\b/i, 'The running sandbox has another version'],
  [/\bis not an option\. Known are\b/i, 'Did you mean …?'],
  [/\bof the next event's first delivery\b/i, 'drops, delays or corrupts the next delivery'],
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
  ...pathsIn('skills', /\.md$/),
  ...pathsIn('examples', /\.(md|tsx?)$/),
  ...pathsIn('src', /\.ts$/),
];

/** The texts that people read: whole files, with line breaks inside a sentence undone, and the titles of tests. */
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

test('all pages of docs/ together have at most 11,500 words', () => {
  const pages = readdirSync('docs').filter((name) => name.endsWith('.md'));
  const words = pages.flatMap((name) => readFileSync(`docs/${name}`, 'utf8').match(/\S+/g) ?? []);
  expect(words.length).toBeLessThanOrEqual(11_500);
});
