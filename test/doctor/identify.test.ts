import { createHmac } from 'node:crypto';
import { identifyScheme } from 'merchant-payments/sandbox';
import { sign } from 'merchant-payments/webhooks';
import { describe, expect, test } from 'vitest';
import { knownSchemes } from '../../src/doctor/schemes.js';
import { macsOf } from '../helpers/openssl.js';

const rawBody = '{"type": "order.paid", "data": {"order_id": "ord_1", "amount": "19.90", "currency": "USD"}}';
/** Reads as text, as base64 and as hex: each gives another key. */
const secret = '9f2c4e7a10b35d68c1e47f0a29bd8356';
const keyHex: Record<string, string> = {
  utf8: Buffer.from(secret).toString('hex'),
  base64: Buffer.from(secret, 'base64').toString('hex'),
  hex: secret,
};
const timestamps = {
  seconds: '1767225600',
  milliseconds: '1767225600000',
  iso8601: '2026-01-01T00:00:00Z',
};

/** Signs as a scheme of the table says, by its texts alone and with MACs of another program. */
function deliveries() {
  const schemes = knownSchemes();
  const signed = schemes.map((known) => {
    const { algorithm = 'sha256', secretEncoding = 'utf8', content = '{timestamp}.{body}' } = known.scheme;
    const text = content.replace('{timestamp}', timestamps[known.unit]).replace('{body}', rawBody);
    return { known, algorithm, secretEncoding, text };
  });
  const macs = new Map<string, Buffer>();
  for (const algorithm of ['sha256', 'sha384', 'sha512']) {
    for (const [encoding, key] of Object.entries(keyHex)) {
      const own = signed.filter((one) => one.algorithm === algorithm && one.secretEncoding === encoding);
      const texts = [...new Set(own.map(({ text }) => text))];
      macsOf(
        algorithm,
        key,
        texts.map((text) => Buffer.from(text)),
      ).forEach((mac, index) => {
        macs.set(`${algorithm} ${encoding} ${texts[index]}`, mac);
      });
    }
  }
  return signed.map(({ known, algorithm, secretEncoding, text }) => {
    const mac = macs.get(`${algorithm} ${secretEncoding} ${text}`) ?? Buffer.alloc(0);
    const timestamp = timestamps[known.unit];
    const signature = known.header
      .replace('{timestamp}', timestamp)
      .replace('{signature}', mac.toString(known.scheme.encoding ?? 'hex'));
    return { known, headers: { 'x-service-signature': signature, 'x-service-timestamp': timestamp } };
  });
}

describe('the table of schemes', () => {
  test('has more than 64, all different', () => {
    const schemes = knownSchemes();
    expect(schemes.length).toBeGreaterThan(64);
    expect(new Set(schemes.map(({ name }) => name)).size).toBe(schemes.length);
    expect(schemes[0]?.scheme).toEqual({});
  });

  test('names a public source for every documented family, and has each of them', () => {
    const sources = knownSchemes().flatMap(({ like }) => like ?? []);
    expect(sources.map(({ service }) => service)).toEqual(
      expect.arrayContaining(['Stripe', 'Slack', 'Paddle', 'Revolut', 'GitHub', 'Shopify', 'Zendesk', 'Box']),
    );
    for (const { source } of sources) expect(source).toMatch(/^https:\/\/[\w.-]+\/\S+$/);
  });

  test('is found from one delivery, scheme by scheme, and verify() takes what is found', () => {
    const started = performance.now();
    let slowest = 0;
    const all = deliveries();
    const wrong = all.filter(({ known, headers }) => {
      const before = performance.now();
      const { scheme, alternatives, notes } = identifyScheme({ rawBody, headers, secret });
      slowest = Math.max(slowest, performance.now() - before);
      // One delivery cannot tell base64 from base64url if both write the same text.
      const found = [scheme, ...alternatives].some(
        (one) => JSON.stringify(one) === JSON.stringify(known.scheme),
      );
      return !found || notes.some((note) => note.includes('verify() refuses'));
    });
    expect(wrong.map(({ known }) => known.name)).toEqual([]);
    console.log(
      `${all.length} schemes in ${Math.round(performance.now() - started)} ms, the slowest ${slowest.toFixed(1)} ms`,
    );
  }, 120_000);
});

describe('identifyScheme()', () => {
  test('says that the default needs no option', () => {
    const result = identifyScheme({ rawBody, headers: sign({ rawBody, secret }), secret });
    expect(result).toMatchObject({ found: true, scheme: {}, alternatives: [], notes: [], questions: [] });
    expect(result.summary).toMatch(
      /^It is the default scheme: no option is needed\. .*; the header holds only the signature; timestamp in /,
    );
  });

  test('names the service that documents the same', () => {
    const scheme = { content: 'v0:{timestamp}:{body}', prefix: 'v0=' };
    const { like } = identifyScheme({ rawBody, headers: sign({ rawBody, secret, scheme }), secret });
    expect(like?.service).toBe('Slack');
  });

  test.each(['t', 'ts', 'timestamp'])(
    'reads a timestamp that is only in the signature header, after %s=',
    (name) => {
      const timestamp = '1767225600';
      const mac = createHmac('sha256', secret).update(`${timestamp}:${rawBody}`).digest('hex');
      const headers = { 'x-service-signature': `${name}=${timestamp};h1=${mac}` };
      expect(identifyScheme({ rawBody, headers, secret }).notes).toContainEqual(
        expect.stringContaining('The timestamp is only in the signature header'),
      );
    },
  );

  test('finds a scheme that signs the address, once it is told the address', () => {
    const url = 'https://shop.example/webhooks?a=b';
    const scheme = { content: `${url}{body}`, encoding: 'base64' } as const;
    const headers = sign({ rawBody, secret, scheme });
    expect(identifyScheme({ rawBody, headers, secret }).found).toBe(false);
    expect(identifyScheme({ rawBody, headers, secret, url }).scheme).toEqual(scheme);
  });

  test('finds a prefix that no known service uses', () => {
    const scheme = { prefix: 'hmac-a=', content: '{timestamp}{body}' };
    const headers = sign({ rawBody, secret, scheme });
    expect(identifyScheme({ rawBody, headers, secret }).scheme).toEqual({
      content: '{timestamp}{body}',
      prefix: 'hmac-a=',
    });
  });

  test('reads headers of other names and says so in the option', () => {
    const scheme = { signatureHeader: 'x-signature', timestampHeader: 'x-timestamp' };
    const headers = sign({ rawBody, secret, scheme });
    expect(identifyScheme({ rawBody, headers, secret, ...scheme }).scheme).toEqual(scheme);
  });

  test('warns where the timestamp is not signed', () => {
    const headers = sign({ rawBody, secret, scheme: { content: '{body}' } });
    expect(identifyScheme({ rawBody, headers, secret }).notes).toEqual([
      expect.stringContaining('fulfil once per order_id'),
    ]);
  });

  test.each([
    ['a newline that an editor added', `${rawBody}\n`, 'newline that was not signed'],
    ['base64, as AWS Lambda passes it', Buffer.from(rawBody).toString('base64'), 'base64, as AWS Lambda'],
    ['a JSON string of the body', JSON.stringify(rawBody), 'Pass `JSON.parse(rawBody)`'],
    ['a re-encoded body', JSON.stringify(JSON.parse(rawBody)), 'parsed and encoded again'],
  ])('tells %s from a wrong secret', (_what, changed, note) => {
    const result = identifyScheme({ rawBody: changed, headers: sign({ rawBody, secret }), secret });
    expect(result).toMatchObject({ found: true, scheme: {} });
    expect(result.notes.join()).toContain(note);
  });

  test.each([
    ['white space', ` ${secret}\n`, 'white space'],
    ['quotation marks', `"${secret}"`, 'quotation marks'],
    ['a prefix', `whsec_${secret}`, 'without its prefix'],
  ])('finds %s around the secret', (_what, given, note) => {
    const result = identifyScheme({ rawBody, headers: sign({ rawBody, secret }), secret: given });
    expect(result).toMatchObject({ found: true, scheme: {} });
    expect(result.notes.join()).toContain(note);
  });

  test('names a wrong secret as the likely reason, and the questions to ask', () => {
    const headers = sign({ rawBody, secret: 'whsec_another' });
    const result = identifyScheme({ rawBody, headers, secret });
    expect(result).toMatchObject({ found: false, scheme: undefined });
    expect(result.notes.join(' ')).toMatch(
      /32 bytes in hex.*wrong secret looks just like an unknown scheme/s,
    );
    expect(result.questions.length).toBeGreaterThan(3);
  });

  test('knows an API key in the place of the secret', () => {
    const headers = sign({ rawBody, secret });
    const { notes } = identifyScheme({ rawBody, headers, secret: 'service_live_abcdefgh' });
    expect(notes.join()).toContain('looks like an API key');
  });

  test.each([
    [
      'HMAC-SHA1',
      {
        'x-service-signature':
          macsOf('sha1', keyHex.utf8 ?? '', [Buffer.from(rawBody)])[0]?.toString('hex') ?? '',
      },
      '20 bytes in hex, unlike any HMAC that verify() knows: it may be SHA-1',
    ],
    [
      'an RSA signature',
      { 'x-service-signature': Buffer.alloc(256, 7).toString('base64') },
      'made with a private key',
    ],
    ['a JSON Web Token', { 'x-service-signature': 'eyJh.eyJi.c2ln' }, 'neither hex nor base64'],
    ['no signature at all', {}, 'no signature header'],
  ])('says of %s what it is', (_what, signature, note) => {
    const headers = { 'x-service-timestamp': timestamps.seconds, ...signature };
    const result = identifyScheme({ rawBody, headers, secret });
    expect(result.found).toBe(false);
    expect(result.notes.join(' ')).toContain(note);
  });

  test('reports a matching signature on a body that is no event', () => {
    const headers = sign({ rawBody: 'ping', secret });
    const { found, notes } = identifyScheme({ rawBody: 'ping', headers, secret });
    expect({ found, notes }).toEqual({ found: true, notes: [expect.stringContaining('verify() refuses')] });
  });

  test('never shows the secret', () => {
    for (const signer of [secret, 'whsec_another']) {
      for (const given of [secret, `'${secret}' `, `whsec_${secret}`]) {
        const result = identifyScheme({ rawBody, headers: sign({ rawBody, secret: signer }), secret: given });
        expect(JSON.stringify(result)).not.toContain(secret);
      }
    }
  });

  test.each([[''], ['  '], ['undefined']])('refuses the secret %j', (empty) => {
    expect(() => identifyScheme({ rawBody, headers: {}, secret: empty })).toThrow(/secret/);
  });
});
