import { type Identification, identifyScheme } from '../doctor/identify.js';
import { WebhookVerificationError } from '../errors.js';
import type { RefusedEntry } from '../inbox/entry.js';
import { readGivenChecks } from '../webhooks/checks.js';
import type { SignatureScheme } from '../webhooks/index.js';
import { type RecoverOptions, recoverDelivery } from '../webhooks/recover.js';
import { describeIdentification } from './identify.js';
import { action, readTolerance, tableText } from './inbox-action.js';
import { readSchemeFlag, schemeFlag, webhookSecret } from './signing.js';
import { CommandError, paragraphs, refuseUnless, verdict } from './terminal.js';

export const listRefused = action({
  name: 'refused',
  summary: 'lists refused deliveries, finds the scheme that signed them, or deletes them',
  usage: `
       merchant-payments inbox <file>|<postgres://…> refused --identify [--url <url>] [--scheme '{…}']
       merchant-payments inbox <file>|<postgres://…> refused --discard [<id> | --older-than 30d | --all]`,
  example: ' --identify',
  flags: {
    identify: ['', 'finds the scheme that signed them, with PAYMENTS_WEBHOOK_SECRET'],
    url: ['<url>', 'with --identify: your webhook URL as the service knows it; some services sign it too'],
    scheme: [schemeFlag[0], 'with --identify: the names of your headers'],
    discard: ['', 'deletes one by its id, those that are old, or all'],
    'older-than': ['<time>', 'with --discard: at least this old, such as 30d or 12h'],
    all: ['', 'with --discard: all of them; the default'],
  },
  words: 1,
  plan(given, [word]) {
    const [identifies, discards, all] = [given.has('identify'), given.has('discard'), given.has('all')];
    refuseUnless(!(identifies && discards), 'Pass --identify or --discard, not both.');
    const isUsed = identifies || !(given.has('scheme') || given.has('url'));
    refuseUnless(isUsed, 'refused takes --scheme and --url only with --identify.');
    const olderThan = given.duration('older-than');
    const isOfDiscard = word === undefined && olderThan === undefined && !all;
    refuseUnless(discards || isOfDiscard, 'refused takes an id, --older-than and --all only with --discard.');
    const named = [word !== undefined, olderThan !== undefined, all].filter(Boolean);
    refuseUnless(named.length < 2, 'Pass an id, --older-than or --all: one of them.');
    refuseUnless(
      word === undefined || /^[1-9]\d{0,14}$/.test(word),
      `${JSON.stringify(word)} is no id of a refused delivery.`,
    );
    const request = { url: given.text('url'), scheme: readSchemeFlag(given.text('scheme')) };
    return async (inbox) => {
      if (discards) {
        const which =
          word === undefined
            ? olderThan === undefined
              ? ({ all: true } as const)
              : { olderThan }
            : { id: Number(word) };
        const count = await inbox.discardRefused(which);
        if (word !== undefined && count === 0)
          throw new CommandError(`There is no refused delivery ${word}.`);
        return [verdict(true, `${count} discarded`), { discarded: count }];
      }
      const entries = await inbox.refused({ limit: 1000 });
      const { refused: count } = await inbox.stats();
      const newest = count > entries.length && `These are the newest ${entries.length} of ${count}.`;
      if (identifies) return identifyFirst(request, entries, newest);
      const lines = entries.map(({ id, receivedAt, times, code, bytes, headers, rawBody, encoding }) => [
        ...[id, receivedAt, times, code, bytes, Object.keys(headers).join(' ')],
        encoding === undefined ? rawBody.slice(0, 60) : '(not UTF-8)',
      ]);
      const none = 'Nothing was refused that another scheme, secret or tolerance could cure.';
      const head = ['ID', 'RECEIVED AT', 'TIMES', 'REFUSED BECAUSE', 'BYTES', 'HEADERS', 'BODY'];
      return [paragraphs(entries.length === 0 ? none : tableText([head, ...lines]), newest), entries];
    };
  },
});

export const recoverRefused = action({
  name: 'recover',
  summary: 'verifies refused deliveries again, and stores those that are authentic',
  usage: " [--scheme '{…}'] [--tolerance 2h]",
  example: ' --scheme scheme.json',
  flags: {
    scheme: [schemeFlag[0], 'what `identify --json` printed'],
    tolerance: ['<time>', 'how far a timestamp may be from its arrival, such as 2h; default 5m'],
  },
  plan(given) {
    const toleranceSeconds = readTolerance(given);
    const scheme = readSchemeFlag(given.text('scheme'));
    return async (inbox) => {
      const result = await inbox.recover({ secret: await webhookSecret(), scheme, toleranceSeconds });
      const { recovered, duplicates, refused } = result;
      const isOk = recovered + duplicates > 0 || refused === 0;
      const text = `${recovered} recovered, ${duplicates} stored before, ${refused} still refused`;
      const advice = !isOk && 'To find the scheme that signed them, run `refused --identify`.';
      const { dropped } = await inbox.stats();
      const lost =
        dropped > 0 &&
        `${dropped} more had been dropped, because the quarantine was full (keepRefused): ask the service for them. \`refused --discard\` clears this count.`;
      return [paragraphs(verdict(isOk, text), advice, lost), { ...result, dropped }, isOk];
    };
  },
});

const lateCodes = ['timestamp_too_old', 'timestamp_in_future'];

/**
 * Describes the first refused delivery that a scheme fits, because other ones may come from strangers. Deliveries refused for their
 * age are tried last, because their scheme was right.
 */
async function identifyFirst(
  { url, scheme }: { url: string | undefined; scheme: Partial<SignatureScheme> | undefined },
  refused: RefusedEntry[],
  newest: string | false,
) {
  if (refused.length === 0) throw new CommandError('Nothing was refused, so there is nothing to identify.');
  const secret = await webhookSecret();
  const isLate = ({ code }: RefusedEntry) => Number(lateCodes.includes(code));
  let last: Identification | undefined;
  for (const delivery of refused.toSorted((one, other) => isLate(one) - isLate(other))) {
    const { encoding, headers } = delivery;
    const rawBody = Buffer.from(delivery.rawBody, encoding ?? 'utf8');
    try {
      const { signatureHeader, timestampHeader } = scheme ?? {};
      last = identifyScheme({ rawBody, headers, secret, url, signatureHeader, timestampHeader });
      if (last.found) break;
    } catch (error) {
      // A delivery without a timestamp, for example, cannot be identified.
      if (!(error instanceof WebhookVerificationError)) throw error;
    }
  }
  if (!last) throw new CommandError('None of the refused deliveries has a signature and a timestamp.');
  if (last.found) last.notes.push(...lateness(refused, { secret, scheme: last.scheme }));
  else if (!scheme) last.notes.push('If openInbox() has header names of its own, pass them as --scheme.');
  if (newest) last.notes.push(newest);
  return [describeIdentification(last), last, last.found] as const;
}

/** Returns a note with the `--tolerance` for `recover`, if deliveries came late or early by the scheme that was found. */
function lateness(refused: readonly RefusedEntry[], found: Pick<RecoverOptions, 'secret' | 'scheme'>) {
  const checks = readGivenChecks('recover', { secret: found.secret, scheme: found.scheme });
  const skews = refused.flatMap((entry) => {
    try {
      recoverDelivery(checks, entry);
    } catch (error) {
      if (error instanceof WebhookVerificationError) return error.skewSeconds ?? [];
    }
    return [];
  });
  const [furthest] = skews.toSorted((one, other) => Math.abs(other) - Math.abs(one));
  if (furthest === undefined) return [];
  const seconds = Math.abs(furthest);
  const side = furthest > 0 ? 'before' : 'after';
  return [
    `By your server's clock, ${skews.length} came late or early, the furthest signed ${seconds} s ${side} its arrival: recover it with --tolerance ${Math.ceil(seconds / 60)}m.`,
  ];
}
