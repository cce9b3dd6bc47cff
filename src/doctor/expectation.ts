import type { Outgoing } from '../sending/delivery.js';
import type { Diagnosis } from './diagnosis.js';
import type { TimestampUnit } from './documented-schemes.js';
import { type Examination, succeeded } from './examination.js';
import type { Finding, FindingCode } from './findings.js';
import { eventBody, type Order, paid } from './probes.js';
import { type KnownScheme, knownSchemes } from './schemes.js';
import { type Mistake, signDelivery, signedAs, signedBy } from './signed.js';
import { encodings, secretSlips } from './slips.js';

/** Requests in flight: a development server takes that many. */
const inFlight = 6;

/** A way to sign that a receiver may expect, and what is wrong with it if it accepts that. */
interface Candidate {
  says: string;
  make: (order: Order) => Outgoing | undefined;
  code: FindingCode;
  facts: Record<string, string>;
  expects?: KnownScheme['scheme'];
}

/** What a receiver would accept, and how many ways to sign were tried. */
export type Expected = Pick<Diagnosis, 'expects' | 'tried'> & { finding?: Finding | undefined };

/**
 * What would a receiver that refuses every valid delivery accept? First what the usual mistakes with secret, body and
 * clock expect, then the likely schemes.
 */
export async function expectation(exam: Examination): Promise<Expected> {
  const schemes = likelySchemes(exam);
  const candidates = [
    ...mistakesOf(exam),
    ...clocksOf(exam),
    // Seconds first: a receiver that reads both does not expect milliseconds.
    ...schemes('seconds'),
    ...schemes('milliseconds'),
    // A receiver that takes this takes a date too, without reading it.
    unreadTime(exam),
    ...schemes('iso8601'),
  ];
  let tried = 0;
  for (let start = 0; start < candidates.length; start += inFlight) {
    if (exam.over) exam.untested.add(`${candidates.length - start} other ways to sign`);
    if (exam.over) break;
    exam.patient.onStep?.(`other ways to sign, from number ${tried + 1} on`);
    const responses = await Promise.all(
      candidates.slice(start, start + inFlight).map(async (candidate) => {
        const delivery = candidate.make(exam.newOrder());
        if (!delivery) return undefined;
        tried++;
        return { candidate, sent: await exam.send(delivery) };
      }),
    );
    const found = responses.find((response) => response && succeeded(response.sent));
    if (!found) continue;
    const { says, code, facts, expects } = found.candidate;
    const evidence = `${exam.told(says, found.sent)} ${exam.evidence('compact')}`;
    return { finding: exam.finding(code, { ...facts, evidence }), expects, tried };
  }
  return { expects: undefined, tried };
}

/** A receiver that makes a mistake accepts a signature made with another key, or over another text. */
function mistakesOf(exam: Examination): Candidate[] {
  const { signer } = exam.patient;
  const { secret } = signer;
  const mistake = (
    says: string,
    code: FindingCode,
    made: (event: ReturnType<typeof paid>) => Partial<Mistake>,
    facts: Record<string, string> = {},
  ): Candidate => ({
    says,
    make: (order) => {
      const body = eventBody(order);
      return signedBy({ key: secret, text: body, ...made(paid(order)) }, body, signer);
    },
    code,
    facts,
  });
  const encoded = encodings(paid(exam.newOrder())).keys();
  return [
    ...['', 'undefined', 'null', 'None'].map((key) =>
      mistake(`signed with the key "${key}"`, 'empty_secret', () => ({ key })),
    ),
    ...secretSlips.flatMap(({ says, makes, remedy }) =>
      makes(secret).map((key) =>
        mistake(`signed as if the secret ${says}`, 'secret_slip', () => ({ key }), {
          slip: says,
          remedy,
        }),
      ),
    ),
    mistake('the signature of "[object Object]"', 'parsed_object', () => ({ text: '[object Object]' })),
    ...['', 'undefined', '{}', 'null'].map((text) =>
      mistake(`the signature of ${text === '' ? 'an empty body' : text}`, 'body_consumed', () => ({ text })),
    ),
    mistake('the signature of the timestamp alone', 'ignores_body', () => ({ text: undefined })),
    ...[...encoded].map((at) =>
      mistake('the signature of the same JSON, encoded differently', 're_encodes', (event) => ({
        text: encodings(event)[at] ?? '',
      })),
    ),
  ];
}

/** Minutes that clocks are off: time zones, and what drifts. */
const minutesOff = [
  ...Array.from({ length: 14 }, (_, hours) => 60 * (hours + 1)),
  ...[30, 10, 20, 40, 50, 210, 270, 330, 345, 390, 525, 570, 630, 1440],
].flatMap((minutes) => [minutes, -minutes]);

function clocksOf(exam: Examination): Candidate[] {
  const own = Date.parse(exam.sent('compact').headers?.date ?? '') - Date.now();
  const shown = [Math.round(own / 60_000) || 0].filter((minutes) => minutes !== 0);
  return [...shown, ...minutesOff].map((minutes) => {
    const size = Math.abs(minutes);
    const amount = size < 60 ? `${size} minutes` : `${size / 60} hour${size === 60 ? '' : 's'}`;
    const skew = `about ${amount} ${minutes > 0 ? 'ahead' : 'behind'}`;
    return {
      says: `signed by a clock ${skew}`,
      make: (order) => signDelivery(eventBody(order), exam.patient.signer, Date.now() + minutes * 60_000),
      code: 'wrong_clock',
      facts: { skew },
    };
  });
}

const unreadTime = ({ patient: { signer } }: Examination): Candidate => ({
  says: 'signed with a timestamp that is no number',
  make: (order) => {
    const text = eventBody(order);
    return signedBy({ key: signer.secret, text, timestamp: 'soon' }, text, signer);
  },
  code: 'wrong_clock',
  facts: { skew: 'off by an unknown amount, or it compares another unit' },
});

/** Documented schemes, and those that differ in at most two parts from the default, by the unit of the timestamp. */
function likelySchemes({ patient: { signer } }: Examination): (unit: TimestampUnit) => Candidate[] {
  const parts = ['content', 'algorithm', 'encoding', 'secretEncoding', 'prefix', 'separator'];
  const own = JSON.stringify(signer.scheme, parts);
  /** Whether it is the scheme of these deliveries, but for the timestamp's unit. */
  const isOwn = ({ header, scheme }: KnownScheme) =>
    !header.includes('{timestamp}') && JSON.stringify(scheme, parts) === own;
  const all = knownSchemes();
  const toBe = own === '{}' ? `the default: ${all[0]?.name}` : 'the scheme of these deliveries';
  return (unit) =>
    all
      .filter((known) => known.unit === unit && (known.like !== undefined || known.distance <= 2))
      .filter((known) => unit !== 'seconds' || !isOwn(known))
      .map((known) => ({
        says: `signed by ${known.name}`,
        make: (order) => signedAs(known, eventBody(order), signer),
        expects: known.scheme,
        ...(isOwn(known)
          ? { code: 'wrong_time_unit', facts: { unit: unit === 'iso8601' ? 'ISO 8601' : unit } }
          : { code: 'other_scheme', facts: { name: known.name, own: toBe } }),
      }));
}
