// Verifiers and receivers in Python, PHP and Go, right and with one mistake each: the runner must report every mistake.
import assert from 'node:assert/strict';
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { type Language, reasonToSkip, start, stopAll } from '../lib/languages.js';
import { examine } from './results.mjs';

const folder = mkdtempSync(join(tmpdir(), 'conformance-'));
after(() => {
  stopAll();
  rmSync(folder, { recursive: true });
});

/** Returns the cases that a run reports. */
async function findDeviations(...args: string[]): Promise<string[]> {
  const { deviations }: { deviations: { id: string }[] } = await examine(...args);
  return deviations.map(({ id }) => id);
}

/** Text of the right verifier, what some write instead, and the cases that find it. */
type Mistake = readonly [right: string, wrong: string, ids: string];

interface Setup {
  verifier: string;
  /** Returns the command that runs a source. */
  command(source: string): string[];
  mistakes: Record<string, Mistake>;
  /** Paths of the receivers over HTTP, and the cases that find their mistake. */
  receivers: Record<string, string>;
}

const languages: Record<Language, Setup> = {
  Python: {
    verifier: 'verify.py',
    command: (source) => ['python3', source],
    mistakes: {
      'compares the first 8 bytes': [
        'hmac.compare_digest(mac, each)',
        'mac[:8] == each[:8]',
        'sig-flip sig-flip-middle',
      ],
      'looks at the past only': [
        'abs(now - sent_at)',
        'now - sent_at',
        'ts-one-second-too-new ts-hour-ahead ts-ten-years-ahead',
      ],
      'reads what int() reads': [
        'if not re.fullmatch(r"[1-9][0-9]{0,13}", text):',
        'if not text.strip().isdigit():',
        'ts-leading-space ts-trailing-lf ts-huge ts-fifteen-digits ts-fullwidth ts-leading-zero',
      ],
      'has no tolerance': [
        'if abs(now - sent_at) > tolerance_seconds:',
        'if False:',
        'ts-one-second-too-old ts-one-second-too-new ts-hour-old ts-hour-ahead ts-ten-years-ahead ts-millis-stale tol-minute',
      ],
    },
    receivers: { truthy: 'sig-missing sig-empty' },
  },
  PHP: {
    verifier: 'verify.php',
    command: (source) => ['php', source],
    mistakes: {
      'trims the body before the MAC': [
        '$before . $body . $after',
        '$before . trim($body) . $after',
        'body-trailing-lf body-crlf body-newline pay-nul-inside pay-all-bytes pay-pretty',
      ],
      'reads hex2bin() of any text': [
        "return preg_match('/\\A([0-9a-fA-F]{2})+\\z/', $text) ? hex2bin($text) : null;",
        'return @hex2bin(trim($text)) ?: null;',
        'sig-trailing-lf scheme-list-space',
      ],
      'ends a pattern with $': ["'/\\A[1-9][0-9]{0,13}\\z/'", "'/^[1-9][0-9]{0,13}$/'", 'ts-trailing-lf'],
      'has no tolerance': [
        'abs($now - $sentAt) > $tolerance',
        'false',
        'ts-one-second-too-old ts-one-second-too-new ts-hour-old ts-hour-ahead ts-ten-years-ahead ts-millis-stale tol-minute',
      ],
    },
    receivers: {
      'strncmp-not-empty': 'sig-half sig-one-char sig-cut',
      isset: 'sig-missing',
      trimmed: 'body-trailing-lf body-crlf body-newline pay-pretty',
    },
  },
  Go: {
    verifier: 'verify.go',
    command(source) {
      const program = source.replace(/\.go$/, '');
      execFileSync('go', ['build', '-buildvcs=false', '-o', program, source], { cwd: folder });
      return [program];
    },
    mistakes: {
      'reads the first of two headers': [
        'len(values) != 1 ||',
        'len(values) == 0 ||',
        'hdr-right-first hdr-timestamp-twice',
      ],
      'reads what ParseFloat reads': [
        'err != nil || !isUnix.MatchString(text)',
        'err != nil',
        'ts-nan ts-plus ts-float-zero ts-underscore ts-fifteen-digits ts-leading-zero',
      ],
      'compares the last 8 bytes': [
        'hmac.Equal(made, signature)',
        'bytes.HasSuffix(made, signature[len(signature)-8:])',
        'sig-flip-first sig-flip-middle',
      ],
      'looks at the past only': [
        'math.Abs(q.Now-sentAt)',
        'math.Max(0, q.Now-sentAt)',
        'ts-one-second-too-new ts-hour-ahead ts-ten-years-ahead',
      ],
    },
    receivers: {
      suffix: 'sig-missing sig-empty sig-second-half',
      prefix: 'sig-half sig-one-char sig-cut',
      'past-only': 'ts-hour-ahead ts-ten-years-ahead ts-millis-stale',
    },
  },
};

for (const language of ['Python', 'PHP', 'Go'] as const) {
  const { verifier, command, mistakes, receivers } = languages[language];
  const right = fileURLToPath(new URL(`../../conformance/verifiers/${verifier}`, import.meta.url));
  const text = readFileSync(right, 'utf8');
  const examineSource = (name: string, source: string) => {
    const file = join(folder, `${name}-${verifier}`);
    writeFileSync(file, source);
    return findDeviations('--stdio', '--', ...command(file));
  };

  describe(`in ${language}`, { skip: reasonToSkip(language) }, () => {
    test('a right verifier has no deviation', async () => {
      assert.deepEqual(await examineSource('right', text), []);
    });

    for (const [at, [says, [good, bad, ids]]] of Object.entries(mistakes).entries())
      test(`a verifier that ${says} is found out`, async () => {
        assert.ok(text.includes(good), 'the right verifier has changed');
        assert.equal(
          (
            await examineSource(
              `wrong-${at}`,
              text.replace(good, () => bad),
            )
          ).join(' '),
          ids,
        );
      });

    test('a receiver over HTTP shows its mistake, beside what the right one shows', async () => {
      const base = await start(language, 'whsec_merchant_test_7Qm2xV9c');
      const usual = await findDeviations(`${base}/right`);
      for (const [path, ids] of Object.entries(receivers)) {
        const own = (await findDeviations(`${base}/${path}`)).filter((id) => !usual.includes(id));
        assert.equal(own.join(' '), ids, path);
      }
    });
  });
}
