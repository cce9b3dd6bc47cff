// Receivers in Python, PHP and Go, with the verdict that a person would give: the doctor must say nothing else.
import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { createSandbox } from 'merchant-payments/sandbox';
import { reasonToSkip, start, stopAll } from '../lib/languages.js';

const secret = 'whsec_of_the_doctor';
const sandbox = createSandbox({ webhookSecret: secret });
after(() => {
  stopAll();
  return sandbox.close();
});

/** Findings by the path of the receiver; after `!`, warnings. */
const verdicts = {
  Python: {
    right: '',
    abort: '',
    idempotent: '!trusts_known_orders',
    polite: 'refuses_with_success',
    never: 'accepts_forged',
    only_logs: 'accepts_forged',
    truthy: 'accepts_unsigned',
    starts: 'weak_comparison',
    zipped: 'weak_comparison',
    dumps: 're_encodes',
    utcnow: 'wrong_clock',
    bytes_and_text: 'parsed_object|handler_failed',
    no_env: 'no_secret',
    past_only: 'no_tolerance',
    validates: 'handler_failed',
    other_name: 'header_lost',
    lower: 'wrong_charset',
  },
  PHP: {
    right: '',
    'right-json': '',
    'right-laravel-abort': '',
    'echo-ok': 'accepts_forged',
    'echo-ok-to-anything': 'answers_before_verifying',
    'die-with-200': 'refuses_with_success',
    strncmp: 'weak_comparison',
    'strncmp-not-empty': 'weak_comparison',
    str_contains: 'weak_comparison',
    isset: 'accepts_unsigned',
    'no-tolerance': 'no_tolerance',
    're-encoded': 're_encodes',
    trimmed: 'trims',
    array: 'handler_failed|parsed_object',
    'no-secret': 'handler_failed|no_secret',
    post: 'body_consumed',
    'body-only': 'other_scheme',
    base64: 'other_scheme',
    strtotime: 'wrong_clock',
    database: 'handler_failed',
    csrf: 'csrf',
  },
  Go: {
    right: '!loose_signature',
    'one-header': '',
    suffix: 'weak_comparison',
    prefix: 'weak_comparison',
    'past-only': 'no_tolerance',
    marshal: 're_encodes',
    'decoder-first': 'body_consumed',
    'no-return': 'refuses_with_success',
    never: 'accepts_forged',
    panics: 'handler_failed',
  },
};

for (const language of ['Python', 'PHP', 'Go'] as const) {
  const rows: Record<string, string> = verdicts[language];
  describe(`receivers in ${language}`, { skip: reasonToSkip(language) }, () => {
    let base: Promise<string> | undefined;
    const tally = { right: 0, wrong: 0, missing: 0 };
    for (const [path, verdict] of Object.entries(rows)) {
      test(`${path}: ${verdict || 'nothing is wrong'}`, async () => {
        base ??= start(language, secret);
        const diagnosis = await sandbox.doctor(`${await base}/${path}`);
        const [finding = '', warning = ''] = verdict.split('!');
        const found = [...diagnosis.findings, ...diagnosis.warnings.filter(({ code }) => code !== 'slow')];
        const wanted = [finding, warning].filter((code) => code !== '');
        const isWanted = ({ code }: { code: string }) =>
          wanted.some((codes) => codes.split('|').includes(code));
        tally.right += found.filter(isWanted).length;
        tally.wrong += found.filter((one) => !isWanted(one)).length;
        tally.missing += Math.max(0, wanted.length - found.filter(isWanted).length);
        assert.deepEqual(
          found.filter((one) => !isWanted(one)).map(({ code }) => code),
          [],
          diagnosis.summary,
        );
        assert.equal(found.length, wanted.length, diagnosis.summary);
        assert.ok(!JSON.stringify(diagnosis).includes(secret));
      });
    }
    after(() =>
      console.log(
        `${language}: findings ${JSON.stringify(tally)} over ${Object.keys(rows).length} receivers`,
      ),
    );
  });
}
