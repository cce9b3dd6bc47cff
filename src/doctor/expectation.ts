import type { Outgoing } from '../sending/delivery.js';
import { sandboxSecret } from '../sending/published.js';
import type { TimestampUnit } from './documented-schemes.js';
import { type Examination, is2xx } from './examination.js';
import type { Facts, Finding, FindingCode } from './findings.js';
import { parseObject } from './json.js';
import { encodings, printings, secretMistakes, type Write } from './mistakes.js';
import { knownKeys } from './probes.js';
import { type KnownScheme, knownSchemes, signAs } from './schemes.js';
import { eventBody, type Mistake, type Order, paidEvent, signDelivery, signMistakenly } from './signed.js';
import { reportedBody } from './stated-fault.js';

/** Number of requests in flight. A development server handles as many. */
const inFlight = 6;

/** A way to sign that a receiver may expect, and the finding if the receiver accepts it. */
interface Candidate {
  says: string;
  make: (order: Order) => Outgoing | undefined;
  code: FindingCode;
  facts: Facts;
  expects?: KnownScheme['scheme'];
  minutes?: number;
}

/**
 * Searches for a signature that is accepted by a receiver that rejects every valid delivery. Signatures that common mistakes and
 * wrong clocks would accept are tried first, then other schemes.
 */
export async function findExpectation(exam: Examination) {
  const schemes = likelySchemes(exam);
  const candidates = [
    ...mistakesOf(exam),
    ...(isClockRight(exam) ? [] : clocksOf(exam)),
    // Seconds come first: a receiver that reads both units does not expect milliseconds.
    ...schemes('seconds'),
    ...schemes('milliseconds'),
    // A receiver that accepts this timestamp would accept a date too, without reading it.
    candidateFor(exam, 'signed with a timestamp that is no number', 'wrong_clock', () => ({
      timestamp: 'soon',
    })),
    ...schemes('iso8601'),
  ];
  let tried = 0;
  for (let start = 0; start < candidates.length; start += inFlight) {
    if (exam.over) exam.untested.add(`${candidates.length - start} other ways to sign`);
    if (exam.over) break;
    exam.receiver.onStep?.(`other ways to sign, from number ${tried + 1} on`);
    const responses = await Promise.all(
      candidates.slice(start, start + inFlight).map(async (candidate) => {
        const delivery = candidate.make(exam.newOrder());
        if (!delivery) return undefined;
        tried++;
        return { ...candidate, sent: await exam.send(delivery) };
      }),
    );
    const found = responses.find((response) => response && is2xx(response.sent));
    if (!found) continue;
    const evidence = `${exam.describe(found.says, found.sent)} ${exam.evidence('compact')}`;
    const beyond = await findWrongTolerance(exam, found.minutes);
    const finding = beyond ?? exam.finding(found.code, { ...found.facts, evidence });
    return { finding, expects: found.expects, tried };
  }
  return { expects: undefined, tried };
}

/** Returns a candidate that only a mistaken receiver accepts: signed with another key, or over another text or timestamp. */
const candidateFor = (
  { receiver: { signer } }: Examination,
  says: string,
  code: FindingCode,
  made: (event: object) => Mistake,
  facts: Facts = {},
): Candidate => ({
  says,
  make: (order) => signMistakenly(made(paidEvent(order)), order, signer),
  code,
  facts,
});

/** Facts about a receiver that has the sandbox's secret: right in a test, where only the doctor has another. */
const ofSandbox = {
  takes: "has the sandbox's published secret, not the one that signs these deliveries",
  remedy: `In a test, that is right: give the doctor the same secret, PAYMENTS_WEBHOOK_SECRET=${sandboxSecret}. Anywhere else, set the service's`,
};

function mistakesOf(exam: Examination): Candidate[] {
  const { secret } = exam.receiver.signer;
  const othersKeys = knownKeys.filter((key) => key !== secret);
  const candidatesByKey = (code: FindingCode, keys: readonly string[], how?: string, facts?: Facts) =>
    keys.map((key) =>
      candidateFor(exam, `signed ${how ?? `with the key "${key}"`}`, code, () => ({ key }), facts),
    );
  const candidatesByText = (code: FindingCode, says: string, writes: readonly Write[], changed?: string) =>
    writes.map((write) =>
      candidateFor(exam, `the signature of ${says}`, code, (event) => ({ text: write(event) }), { changed }),
    );
  const printedBytes = [(event: object) => `b'${JSON.stringify(event)}'`];
  const stampAlone = { text: '', content: '{timestamp}{body}' };
  const emptied = ['', 'undefined', '{}', '[]', 'null'].map((text) => () => text);
  return [
    ...candidatesByKey('empty_secret', ['', 'undefined', 'null', 'None']),
    ...othersKeys.flatMap((key) =>
      candidatesByKey('known_secret', [key], undefined, key === sandboxSecret ? ofSandbox : {}),
    ),
    ...secretMistakes.flatMap(({ says, make, remedy }) =>
      candidatesByKey('altered_secret', make(secret), `as if the secret ${says}`, {
        alteration: says,
        remedy,
      }),
    ),
    ...candidatesByText('parsed_object', 'a parsed object, as text', printings),
    ...candidatesByText(
      're_encodes',
      'the body as Python prints bytes',
      printedBytes,
      'turned into text by Python',
    ),
    ...candidatesByText('body_consumed', 'an empty body, as text', emptied),
    candidateFor(exam, 'the signature of the timestamp alone', 'ignores_body', () => stampAlone),
    ...candidatesByText('re_encodes', 'the same JSON, encoded differently', encodings),
  ];
}

/** Minutes by which a clock may be off. Whole hours come first (local time read as UTC), then the other time zones. */
const minutesOff = [0, 30, 45]
  .flatMap((minutes) => Array.from({ length: 15 }, (_, hours) => hours * 60 + minutes))
  .filter((minutes) => minutes > 0 && minutes <= 14 * 60)
  .flatMap((minutes) => [minutes, -minutes]);

/** True if the receiver reports that only the signature differs, which means that its clock is right. */
function isClockRight(exam: Examination): boolean {
  const { body = '' } = exam.sent('compact');
  return reportedBody(body) !== undefined && parseObject(body)?.error === 'signature_mismatch';
}

function clocksOf(exam: Examination): Candidate[] {
  return minutesOff.map((minutes) => ({
    says: `signed by a clock about ${timeOff(minutes)}`,
    make: signByClock(exam, minutes),
    code: 'wrong_clock',
    facts: { skew: `about ${timeOff(minutes)}` },
    minutes,
  }));
}

function timeOff(minutes: number): string {
  const size = Math.abs(minutes);
  const countUnits = (count: number, unit: string) =>
    count ? [`${count} ${unit}${count === 1 ? '' : 's'}`] : [];
  const amount = [...countUnits(Math.floor(size / 60), 'hour'), ...countUnits(size % 60, 'minute')];
  return `${amount.join(' ')} ${minutes > 0 ? 'ahead' : 'behind'}`;
}

const signByClock = (exam: Examination, minutes: number) => (order: Order) =>
  signDelivery(eventBody(order), exam.receiver.signer, Date.now() + minutes * 60_000);

/** Returns `wrong_tolerance` if a far timestamp is accepted too: the receiver compares in one direction only, so its clock stays unknown. */
async function findWrongTolerance(exam: Examination, minutes = 0): Promise<Finding | undefined> {
  if (minutes === 0) return undefined;
  const when = `40 days ${minutes > 0 ? 'ahead' : 'ago'}`;
  const sent = await exam.send(signByClock(exam, Math.sign(minutes) * 40 * 24 * 60)(exam.newOrder()));
  const evidence = `${exam.describe(`signed ${when}`, sent)} ${exam.evidence('compact')}`;
  return is2xx(sent) ? exam.finding('wrong_tolerance', { when, evidence }) : undefined;
}

/** Returns a function from a timestamp's unit to candidates: the documented schemes, and those that differ from the default in at most two parts. */
function likelySchemes({ receiver: { signer } }: Examination): (unit: TimestampUnit) => Candidate[] {
  const parts = ['content', 'algorithm', 'encoding', 'secretEncoding', 'prefix', 'separator'];
  const own = JSON.stringify(signer.scheme, parts);
  /** True if a scheme is the one of these deliveries, apart from the timestamp's unit. */
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
        make: (order) => signAs(known, eventBody(order), signer),
        expects: known.scheme,
        ...(isOwn(known)
          ? { code: 'wrong_time_unit', facts: { unit: unit === 'iso8601' ? 'ISO 8601' : unit } }
          : { code: 'other_scheme', facts: { name: known.name, own: toBe } }),
      }));
}
