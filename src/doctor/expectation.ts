import { readScheme } from '../webhooks/scheme.js';
import type { Outgoing } from './delivery.js';
import { type Examination, wasAccepted } from './examination.js';
import type { Finding } from './findings.js';
import { fixesIn } from './frameworks.js';
import { eventBody, paid } from './probes.js';
import { type KnownScheme, knownSchemes } from './schemes.js';
import { type Signer, signedAs, signedBy } from './signed.js';
import { spaced } from './spaced.js';

/** Requests in flight: a development server takes that many. */
const inFlight = 6;

/** What the second step found: a mistake by its finding, or the scheme that the receiver expects. */
export interface Expectation {
  finding: Finding | undefined;
  expects: KnownScheme['scheme'] | undefined;
  tried: number;
}

/**
 * What would a receiver that refuses every valid delivery accept? First what the usual mistakes with secret and body
 * expect, then the likely schemes.
 */
export async function expectation(exam: Examination): Promise<Expectation> {
  const { signer } = exam.patient;
  const body = eventBody(exam.order);
  const mistake = await firstAccepted(exam, mistakesOf(exam), ([, signed]) =>
    signedBy({ key: signer.secret, text: body, ...signed }, body, signer),
  );
  if (mistake.found) return { finding: mistake.found[0], expects: undefined, tried: mistake.tried };
  const scheme = await firstAccepted(exam, likelySchemes(signer), (known) => signedAs(known, body, signer));
  const tried = mistake.tried + scheme.tried;
  if (!scheme.found) return { finding: undefined, expects: undefined, tried };
  return { finding: findingOn(scheme.found, exam), expects: scheme.found.scheme, tried };
}

/** A receiver that makes the mistake accepts a signature made with that key, over that text. */
type Mistake = [finding: Finding, signed: { key?: string; text?: string }];

function mistakesOf(exam: Examination): Mistake[] {
  const { secret } = exam.patient.signer;
  const event = paid(exam.order);
  const { amount, currency, order_id } = event.data;
  const sorted = { data: { amount, currency, order_id }, type: event.type };
  const bare = secret.replace(/^[a-z]{2,10}_/i, '');
  const keys = (finding: Finding, ...all: string[]) => all.map((key): Mistake => [finding, { key }]);
  const texts = (finding: Finding, ...all: string[]) => all.map((text): Mistake => [finding, { text }]);
  const slip = (slip: string, remedy: string) => exam.finding('secret_slip', { slip, remedy });
  return [
    ...keys(
      exam.finding('empty_secret', {
        evidence: 'It accepted a delivery that was signed with an empty or "undefined" key.',
      }),
      ...['', 'undefined', 'null'],
    ),
    ...keys(
      slip(
        'ends in white space',
        `Remove it where it is read (${fixesIn(exam.framework).trim}), or from the file or variable that holds it`,
      ),
      ...['\n', '\r\n', '\r', ' '].map((end) => secret + end),
    ),
    ...keys(
      slip('has quotation marks around it', 'Remove them: Docker and some .env readers keep them'),
      ...[`"${secret}"`, `'${secret}'`],
    ),
    ...keys(
      slip('lacks its prefix', 'Pass the whole secret as it was given to you'),
      ...(bare === secret ? [] : [bare]),
    ),
    ...texts(
      exam.finding('parsed_object', { evidence: 'It verifies the text "[object Object]".' }),
      '[object Object]',
    ),
    ...texts(exam.finding('body_consumed'), '', 'undefined', '{}', 'null'),
    ...texts(
      exam.finding('re_encodes', {
        evidence: 'It accepted a signature over the same event, encoded differently.',
      }),
      ...[spaced(event), JSON.stringify(sorted), spaced(sorted), JSON.stringify(event, null, 2)],
    ),
  ];
}

/** Documented schemes, and those that differ in at most two parts from the default. */
function likelySchemes(signer: Signer): KnownScheme[] {
  const own = JSON.stringify(signer.scheme);
  return knownSchemes().filter(
    ({ like, distance, scheme, unit }) =>
      (like !== undefined || distance <= 2) && !(unit === 'seconds' && JSON.stringify(scheme) === own),
  );
}

/** The first candidate whose delivery the receiver accepts, and how many it got. */
async function firstAccepted<One>(
  exam: Examination,
  candidates: readonly One[],
  make: (candidate: One) => Outgoing | undefined,
): Promise<{ found: One | undefined; tried: number }> {
  let tried = 0;
  for (let start = 0; start < candidates.length; start += inFlight) {
    exam.patient.onStep?.(`other ways to sign, ${tried + 1} and on`);
    const batch = candidates.slice(start, start + inFlight);
    const accepted = await Promise.all(
      batch.map(async (candidate) => {
        const delivery = make(candidate);
        if (!delivery) return false;
        tried++;
        return wasAccepted(await exam.send(delivery));
      }),
    );
    const found = batch[accepted.indexOf(true)];
    if (found !== undefined) return { found, tried };
  }
  return { found: undefined, tried };
}

function findingOn(known: KnownScheme, exam: Examination): Finding {
  const { scheme } = exam.patient.signer;
  const own = readScheme(scheme);
  const other = readScheme(known.scheme);
  const evidence = `It accepted a delivery signed by ${known.name}.`;
  const sameButUnit =
    known.header === `${own.prefix}{signature}` &&
    (['content', 'algorithm', 'encoding', 'secretEncoding'] as const).every(
      (part) => own[part] === other[part],
    );
  if (sameButUnit)
    return exam.finding('wrong_time_unit', {
      unit: known.unit === 'iso8601' ? 'ISO 8601' : known.unit,
      evidence,
    });
  const usual = Object.keys(scheme).length === 0;
  return exam.finding('other_scheme', {
    name: known.name,
    own: usual ? `the default: ${knownSchemes()[0]?.name}` : 'the scheme that it was told',
  });
}
