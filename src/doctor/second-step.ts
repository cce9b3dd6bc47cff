import { readScheme } from '../webhooks/scheme.js';
import type { Outgoing } from './delivery.js';
import type { Finding } from './diagnosis.js';
import { type Examination, isAccepted } from './examination.js';
import { rawBodyFix } from './frameworks.js';
import { eventBody, paid, type Signer, signedAs, signedBy } from './probes.js';
import { type KnownScheme, knownSchemes } from './schemes.js';
import { spaced } from './spaced.js';

/** Requests under way at once: a development server takes that many. */
const atOnce = 6;

/** What the second step found: a mistake by its finding, or the scheme that the receiver expects. */
export interface Expectation {
  finding: Finding | undefined;
  expects: KnownScheme['scheme'] | undefined;
  tried: number;
}

/**
 * Where a receiver refuses every right delivery: what would it accept? First what the usual mistakes with secret and
 * body expect, then the likely schemes.
 */
export async function expectation(exam: Examination): Promise<Expectation> {
  const { signer } = exam.patient;
  const body = eventBody(exam.order);
  const mistake = await firstAccepted(exam, mistakesOf(exam), ({ key, text }) =>
    signedBy({ key, text }, body, signer),
  );
  if (mistake.found) return { finding: mistake.found.finding, expects: undefined, tried: mistake.tried };
  const scheme = await firstAccepted(exam, likelySchemes(signer), (known) => signedAs(known, body, signer));
  const tried = mistake.tried + scheme.tried;
  if (!scheme.found) return { finding: undefined, expects: undefined, tried };
  return { finding: findingOn(scheme.found, signer), expects: scheme.found.scheme, tried };
}

interface Mistake {
  key: string;
  text: string;
  finding: Finding;
}

/** Whoever makes the mistake accepts what is signed by it. */
function mistakesOf(exam: Examination): Mistake[] {
  const { secret } = exam.patient.signer;
  const body = eventBody(exam.order);
  const { type, data } = paid(exam.order);
  const sorted = { data: { amount: data.amount, currency: data.currency, order_id: data.order_id }, type };
  const empty: Finding = {
    code: 'empty_secret',
    problem: 'DANGER: the secret is empty in your handler, so anybody can sign an order as paid.',
    fix: 'Set the secret in the environment of that very process, and refuse to start without it.',
    evidence: 'It accepted a delivery that was signed with an empty or "undefined" key.',
  };
  const slip = (problem: string, fix: string): Finding => ({ code: 'secret_slip', problem, fix });
  const lineFeed = slip(
    'The secret in your handler has white space at its end.',
    'Remove it where it is read (.trim()), or from the file or variable that holds it.',
  );
  const quotes = slip(
    'The secret in your handler has quotation marks around it.',
    'Remove them from the variable: Docker and some .env readers keep them.',
  );
  const prefix = slip(
    'Your handler drops the prefix of the secret.',
    'Pass the whole secret as the dashboard shows it.',
  );
  const raw = rawBodyFix(exam.framework);
  const parsed: Finding = {
    code: 'parsed_object',
    problem: 'Your handler signs "[object Object]": it was given a parsed body.',
    fix: raw,
  };
  const consumed: Finding = {
    code: 'body_consumed',
    problem: 'Your handler verifies an empty body: something read it before.',
    fix: raw,
  };
  const reencoded: Finding = {
    code: 're_encodes',
    problem: 'Your handler writes the body anew before it verifies it.',
    fix: raw,
  };
  const bare = secret.replace(/^[a-z]{2,10}_/i, '');
  return [
    ...['', 'undefined', 'null'].map((key) => ({ key, text: body, finding: empty })),
    ...[`${secret}\n`, `${secret}\r\n`, `${secret}\r`, `${secret} `].map((key) => ({
      key,
      text: body,
      finding: lineFeed,
    })),
    ...[`"${secret}"`, `'${secret}'`].map((key) => ({ key, text: body, finding: quotes })),
    ...(bare === secret ? [] : [{ key: bare, text: body, finding: prefix }]),
    { key: secret, text: '[object Object]', finding: parsed },
    ...['', 'undefined', '{}', 'null'].map((text) => ({ key: secret, text, finding: consumed })),
    ...[
      JSON.stringify(sorted),
      spaced(sorted),
      spaced(paid(exam.order)),
      JSON.stringify(paid(exam.order), null, 2),
    ].map((text) => ({ key: secret, text, finding: reencoded })),
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

/** The first candidate whose delivery the receiver takes, and how many it got. */
async function firstAccepted<One>(
  exam: Examination,
  candidates: readonly One[],
  make: (candidate: One) => Outgoing | undefined,
): Promise<{ found: One | undefined; tried: number }> {
  let tried = 0;
  for (let start = 0; start < candidates.length; start += atOnce) {
    const batch = candidates.slice(start, start + atOnce);
    const accepted = await Promise.all(
      batch.map(async (candidate) => {
        const delivery = make(candidate);
        if (!delivery) return false;
        tried++;
        return isAccepted(await exam.send(delivery));
      }),
    );
    const found = batch[accepted.indexOf(true)];
    if (found !== undefined) return { found, tried };
  }
  return { found: undefined, tried };
}

function findingOn(known: KnownScheme, signer: Signer): Finding {
  const own = readScheme(signer.scheme);
  const other = readScheme(known.scheme);
  const evidence = `It accepted ${known.name}.`;
  const sameButUnit =
    known.header === `${own.prefix}{signature}` &&
    (['content', 'algorithm', 'encoding', 'secretEncoding'] as const).every(
      (part) => own[part] === other[part],
    );
  if (sameButUnit) {
    return {
      code: 'wrong_time_unit',
      problem: `Your handler reads the timestamp in ${known.unit === 'iso8601' ? 'ISO 8601' : known.unit}, and deliveries here carry seconds.`,
      fix: 'Compare both in one unit: Math.abs(Date.now() / 1000 - Number(timestamp)) <= 300.',
      evidence,
    };
  }
  const bodyAlone = other.content === '{body}' && own.content !== '{body}';
  return {
    code: 'other_scheme',
    problem: bodyAlone
      ? 'Your handler expects the signature over the body alone: it leaves the timestamp out of the signed text.'
      : `Your handler expects another scheme: ${known.name}.`,
    fix: bodyAlone
      ? `Sign ${own.content.replace('{timestamp}', '${timestamp}').replace('{body}', '${rawBody}')} instead, unless \`merchant-payments identify\` finds that the service signs the body alone.`
      : 'If the service signs so (`merchant-payments identify` tells from one real delivery), give the sandbox the same `unspecified.signature`; else correct your handler.',
    evidence,
  };
}
