import { readScheme } from '../webhooks/scheme.js';
import type { Outgoing } from './delivery.js';
import { type Examination, wasAccepted } from './examination.js';
import type { Finding, FindingCode } from './findings.js';
import { fixesIn } from './frameworks.js';
import { eventBody, paid } from './probes.js';
import { type KnownScheme, knownSchemes } from './schemes.js';
import { signedAs, signedBy } from './signed.js';
import { spaced } from './spaced.js';

/** Requests in flight: a development server takes that many. */
const inFlight = 6;

/** A way to sign that a receiver may expect, and what it shows if the receiver accepts that. */
interface Candidate {
  make: () => Outgoing | undefined;
  finding: () => Finding;
  expects?: KnownScheme['scheme'];
}

/**
 * What would a receiver that refuses every valid delivery accept? First what the usual mistakes with secret and body
 * expect, then the likely schemes.
 */
export async function expectation(exam: Examination) {
  const candidates = [...mistakesOf(exam), ...likelySchemes(exam)];
  let tried = 0;
  for (let start = 0; start < candidates.length; start += inFlight) {
    exam.patient.onStep?.(`other ways to sign, from number ${tried + 1} on`);
    const batch = candidates.slice(start, start + inFlight);
    const accepted = await Promise.all(
      batch.map(async ({ make }) => {
        const delivery = make();
        if (!delivery) return false;
        tried++;
        return wasAccepted(await exam.send(delivery));
      }),
    );
    const found = batch[accepted.indexOf(true)];
    if (found) return { finding: found.finding(), expects: found.expects, tried };
  }
  return { finding: undefined, expects: undefined, tried };
}

/** A receiver that makes a mistake accepts a signature made with another key, or over another text. */
function mistakesOf(exam: Examination): Candidate[] {
  const { signer } = exam.patient;
  const { secret } = signer;
  const body = eventBody(exam.order);
  const event = paid(exam.order);
  const { amount, currency, order_id } = event.data;
  const sorted = { data: { amount, currency, order_id }, type: event.type };
  const bare = secret.replace(/^[a-z]{2,10}_/i, '');
  const encoded = [spaced(event), JSON.stringify(sorted), spaced(sorted), JSON.stringify(event, null, 2)];
  const mistakes = (part: 'key' | 'text', all: string[], code: FindingCode, facts: Record<string, string>) =>
    all.map((value) => ({
      make: () => signedBy({ key: secret, text: body, [part]: value }, body, signer),
      finding: () => exam.finding(code, facts),
    }));
  return [
    ...mistakes('key', ['', 'undefined', 'null'], 'empty_secret', {
      evidence: 'It accepted a delivery that was signed with an empty or "undefined" key.',
    }),
    ...mistakes('key', [`${secret}\n`, `${secret}\r\n`, `${secret}\r`, `${secret} `], 'secret_slip', {
      slip: 'ends in white space',
      remedy: `Remove it where it is read (${fixesIn(exam.framework).trim}), or from the file or variable that holds it`,
    }),
    ...mistakes('key', [`"${secret}"`, `'${secret}'`], 'secret_slip', {
      slip: 'has quotation marks around it',
      remedy: 'Remove them: Docker and some .env readers keep them',
    }),
    ...mistakes('key', bare === secret ? [] : [bare], 'secret_slip', {
      slip: 'lacks its prefix',
      remedy: 'Pass the whole secret as it was given to you',
    }),
    ...mistakes('text', ['[object Object]'], 'parsed_object', {
      evidence: 'It verifies the text "[object Object]".',
    }),
    ...mistakes('text', ['', 'undefined', '{}', 'null'], 'body_consumed', {}),
    ...mistakes('text', encoded, 're_encodes', {
      evidence: 'It accepted a signature over the same event, encoded differently.',
    }),
  ];
}

/** Documented schemes, and those that differ in at most two parts from the default. */
function likelySchemes(exam: Examination): Candidate[] {
  const { signer } = exam.patient;
  const own = JSON.stringify(signer.scheme);
  return knownSchemes()
    .filter(({ like, distance }) => like !== undefined || distance <= 2)
    .filter(({ scheme, unit }) => unit !== 'seconds' || JSON.stringify(scheme) !== own)
    .map((known) => ({
      make: () => signedAs(known, eventBody(exam.order), signer),
      finding: () => findingOn(known, exam),
      expects: known.scheme,
    }));
}

function findingOn(known: KnownScheme, exam: Examination): Finding {
  const { scheme } = exam.patient.signer;
  const own = readScheme(scheme);
  const other = readScheme(known.scheme);
  const sameButUnit =
    known.header === `${own.prefix}{signature}` &&
    (['content', 'algorithm', 'encoding', 'secretEncoding'] as const).every(
      (part) => own[part] === other[part],
    );
  if (sameButUnit)
    return exam.finding('wrong_time_unit', {
      unit: known.unit === 'iso8601' ? 'ISO 8601' : known.unit,
      evidence: `It accepted a delivery signed by ${known.name}.`,
    });
  return exam.finding('other_scheme', {
    name: known.name,
    own:
      Object.keys(scheme).length === 0
        ? `the default: ${knownSchemes()[0]?.name}`
        : 'the scheme of these deliveries',
  });
}
