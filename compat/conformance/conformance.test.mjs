// The runner against verifiers and receivers that are right, that hold one planted fault each, and that are published.
import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { createHmac } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createInterface } from 'node:readline';
import { describe, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { bytesOf, cases, vectors } from '../../conformance/corpus.mjs';
import { examine, results } from './results.mjs';

const path = (relative) => fileURLToPath(new URL(relative, import.meta.url));
const everything = { passed: cases.length, deviations: [], skipped: [] };

describe('a right verifier has no deviation', () => {
  for (const command of [
    [process.execPath, path('../../conformance/verifiers/verify.mjs')],
    [process.execPath, path('public-verifiers.mjs'), 'merchant-payments'],
  ]) {
    test(command.slice(1).at(-1).split('/').at(-1), async () => {
      assert.deepEqual(await examine('--stdio', '--', ...command), everything);
    });
  }
});

/** The deviations that the runner finds in each receiver. */
const receivers = [
  ['receiver.mjs', 'none', []],
  [
    'receiver.mjs',
    'accepts the beginning of a signature',
    ['sig-half', 'sig-one-char', 'sig-empty', 'sig-cut'],
  ],
  ['receiver.mjs', 'decodes the body before the MAC', ['body-ff-for-fffd']],
  [
    'receiver.mjs',
    'does not look at the timestamp’s age',
    ['ts-hour-old', 'ts-hour-ahead', 'ts-ten-years-ahead', 'ts-millis-stale'],
  ],
  ['receiver.py', 'none', []],
  ['receiver.py', 'takes a delivery without a signature', ['sig-missing']],
  [
    'receiver.py',
    'breaks on a signature that is not hex',
    [
      'sig-one-char',
      'sig-nonhex',
      'sig-0x',
      'sig-base64-under-hex',
      'sig-list-unconfigured',
      'sig-js-true',
      'sig-prefix-unasked',
      'hdr-node-join',
    ],
  ],
  [
    'receiver.py',
    'verifies the JSON that it parsed',
    [
      'body-trailing-lf',
      'body-bom-added',
      'body-crlf',
      'body-newline',
      'pay-duplicate-keys',
      'pay-escaped',
      'pay-pretty',
    ],
  ],
];

describe('a receiver is found out over HTTP', () => {
  for (const [program, fault, expected] of receivers) {
    test(`${program}: ${fault}`, async () => {
      const receiver = await start(program, fault);
      try {
        const { passed, deviations } = await examine(`http://127.0.0.1:${receiver.port}/`);
        assert.deepEqual(
          deviations.map(({ id }) => id),
          expected,
        );
        assert.ok(passed > 40, `only ${passed} cases were delivered`);
      } finally {
        receiver.stop();
      }
    });
  }

  test('a receiver with another secret is told apart from a broken one', async () => {
    const receiver = await start('receiver.mjs', 'none', 'another-secret');
    try {
      await assert.rejects(
        examine(`http://127.0.0.1:${receiver.port}/`),
        /answered 400 to a valid delivery.*WEBHOOK_SECRET/,
      );
    } finally {
      receiver.stop();
    }
  });
});

test('Node, Python and PHP make the MACs of vectors.json', () => {
  const wanted = vectors.flatMap((vector) => {
    const body = bytesOf({ vector: vector.id });
    const stamped = Buffer.concat([Buffer.from(`${vector.timestamp}.`), body]);
    const { standardWebhooks } = vector;
    const numbered = Buffer.concat([
      Buffer.from(`${standardWebhooks.id}.${standardWebhooks.timestamp}.`),
      body,
    ]);
    const key = Buffer.from(vector.secret);
    const decoded = Buffer.from(standardWebhooks.secret.slice('whsec_'.length), 'base64');
    const signature = Buffer.from(standardWebhooks.signature.slice('v1,'.length), 'base64');
    return [
      ['sha256', key, stamped, vector.hmacSha256.hex],
      ['sha512', key, stamped, vector.hmacSha512.hex],
      ['sha256', key, body, vector.bodyOnlySha256.hex],
      ['sha256', decoded, numbered, signature.toString('hex')],
    ];
  });
  const macs = wanted.map(([, , , mac]) => mac);
  const own = wanted.map(([algorithm, key, message]) =>
    createHmac(algorithm, key).update(message).digest('hex'),
  );
  assert.deepEqual(own, macs);
  const input = JSON.stringify(
    wanted.map(([algorithm, key, message]) => [
      algorithm,
      key.toString('base64'),
      message.toString('base64'),
    ]),
  );
  const makeMacs = (program, flag, code) =>
    JSON.parse(execFileSync(program, [flag, code], { input, encoding: 'utf8' }));
  assert.deepEqual(makeMacs('python3', '-c', python), macs);
  assert.deepEqual(makeMacs('php', '-r', php), macs);
});

const python = `
import base64, hmac, json, sys
made = [(a, base64.b64decode(key), base64.b64decode(message)) for a, key, message in json.load(sys.stdin)]
print(json.dumps([hmac.new(key, message, a).hexdigest() for a, key, message in made]))`;
const php = `
$mac = fn ($one) => hash_hmac($one[0], base64_decode($one[2]), base64_decode($one[1]));
echo json_encode(array_map($mac, json_decode(stream_get_contents(STDIN), true)));`;

test('RESULTS.md says what the published verifiers do', async () => {
  const fresh = await results();
  assert.ok(!fresh.includes('NOT EXPLAINED'), fresh);
  assert.equal(readFileSync(path('../../conformance/RESULTS.md'), 'utf8'), fresh);
});

async function start(program, fault, secret = 'whsec_merchant_test_7Qm2xV9c') {
  const runtime = program.endsWith('.py') ? 'python3' : process.execPath;
  const child = spawn(runtime, [path(program), fault], {
    env: { ...process.env, WEBHOOK_SECRET: secret },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  for await (const port of createInterface({ input: child.stdout }))
    return { port, stop: () => child.kill() };
  throw new Error(`${program} ended before it listened`);
}
