import type { Inbox } from '../inbox/open-inbox.js';
import { readGivenChecks } from '../webhooks/checks.js';
import { headerPairs } from '../webhooks/headers.js';
import { recoverDelivery } from '../webhooks/recover.js';
import { deliveryInFile } from './delivery-file.js';
import { action, readKeyWord, readTolerance, tableText } from './inbox-action.js';
import { readSchemeFlag, schemeFlag, webhookSecret } from './signing.js';
import { CommandError, paragraphs, refuseUnless, verdict } from './terminal.js';

async function notWaitingError(
  inbox: Inbox,
  key: string,
  states = 'pending or parked',
): Promise<CommandError> {
  const name = JSON.stringify(key);
  if ((await inbox.get(key))?.state !== 'running')
    return new CommandError(`There is no delivery ${name} that is ${states}.`);
  return new CommandError(
    `Delivery ${name} is running. If its server was killed, it is due within a minute. If its function is stuck, run retry with --force.`,
  );
}

/** The most entries that one call of `list()` returns. */
const most = 1000;

export const stats = action({
  name: 'stats',
  summary: 'shows how many deliveries are in each state, and what is parked',
  usage: '',
  example: '',
  plan: () => async (inbox) => {
    const stats = await inbox.stats();
    const parked = await inbox.list({ state: 'parked' });
    const lines = parked.map(({ key, attempts, lastError }) => [key, attempts, lastError ?? '']);
    const more = stats.parked - parked.length;
    const text = paragraphs(
      tableText(Object.entries(stats)),
      parked.length > 0 && tableText([['PARKED', 'ATTEMPTS', 'LAST ERROR'], ...lines]),
      more > 0 && `${more} more are parked: \`list --parked\` shows up to ${most}.`,
    );
    return [text, { ...stats, parkedDeliveries: parked }];
  },
});

export const list = action({
  name: 'list',
  summary: 'lists deliveries, newest first, each with its last error',
  usage: ' [--pending | --parked]',
  example: ' --pending',
  flags: {
    pending: ['', 'only those that wait for their next attempt'],
    parked: ['', 'only those that have no attempts left'],
  },
  plan(given) {
    const states = (['pending', 'parked'] as const).filter((name) => given.has(name));
    refuseUnless(states.length < 2, 'Pass --pending or --parked, not both.');
    return async (inbox) => {
      const entries = await inbox.list({ state: states[0], limit: most });
      const lines = entries.map(({ key, state, attempts, nextAttemptAt, lastError }) => [
        ...[key, state, attempts, nextAttemptAt, lastError],
      ]);
      const head = ['KEY', 'STATE', 'ATTEMPTS', 'NEXT ATTEMPT', 'LAST ERROR'];
      const text = entries.length === 0 ? 'There is none.' : tableText([head, ...lines]);
      return [paragraphs(text, entries.length === most && `These are the newest ${most}.`), entries];
    };
  },
});

export const showOne = action({
  name: 'show',
  summary: 'shows one delivery with its event',
  usage: ' <key>',
  example: ' order.paid:ord_1001',
  words: 1,
  plan(_given, words) {
    const key = readKeyWord(words);
    return async (inbox) => {
      const entry = await inbox.get(key);
      if (!entry) throw new CommandError(`There is no delivery ${JSON.stringify(key)}.`);
      const { event, ...facts } = entry;
      const content = event === null ? 'purged' : JSON.stringify(event, undefined, 2);
      return [`${tableText(Object.entries(facts))}\n\n${content}`, entry];
    };
  },
});

export const retry = action({
  name: 'retry',
  summary: 'makes deliveries due now, with all their retries again; a running server runs them',
  usage: ' <key> [--force] | --parked | --pending',
  example: ' --pending',
  flags: {
    parked: ['', 'all parked deliveries, except those with other content under a known key'],
    pending: ['', 'all deliveries that wait for their next attempt'],
    force: ['', 'with a key: also a running delivery, whose function may be stuck'],
  },
  words: 1,
  plan(given, words) {
    const [force, parked, pending] = [given.has('force'), given.has('parked'), given.has('pending')];
    const isOne = !parked && !pending;
    refuseUnless(
      isOne || (words.length === 0 && !(parked && pending)),
      'Pass a key, --parked or --pending: one of them.',
    );
    refuseUnless(isOne || !force, '--force takes one running delivery by its key.');
    const key = isOne ? readKeyWord(words) : '';
    return async (inbox) => {
      const retryOne = async () => Number(await inbox.retry(key, { force }));
      const count = parked
        ? await inbox.retryParked()
        : pending
          ? await inbox.retryPending()
          : await retryOne();
      if (isOne && count === 0)
        throw await notWaitingError(inbox, key, force ? 'pending, running or parked' : 'pending or parked');
      return [verdict(true, `${count} due now`), { retried: count }];
    };
  },
});

export const discard = action({
  name: 'discard',
  summary: 'gives up a pending or parked delivery, but keeps its key',
  usage: ' <key>',
  example: ' order.paid:ord_1001',
  words: 1,
  plan(_given, words) {
    const key = readKeyWord(words);
    return async (inbox) => {
      if (!(await inbox.discard(key))) throw await notWaitingError(inbox, key);
      return [verdict(true, 'discarded'), { discarded: 1 }];
    };
  },
});

export const purge = action({
  name: 'purge',
  summary:
    'deletes events, bodies and headers of old deliveries that are done or discarded, but keeps the keys',
  usage: ' --older-than 90d',
  example: ' --older-than 90d',
  flags: { 'older-than': ['<time>', 'at least this old, such as 90d or 12h'] },
  plan(given) {
    const olderThan = given.duration('older-than');
    refuseUnless(olderThan !== undefined, 'Pass --older-than with a duration such as 90d.');
    return async (inbox) => {
      const count = await inbox.purge({ olderThan });
      return [verdict(true, `${count} purged; their keys stay known`), { purged: count }];
    };
  },
});

export const accept = action({
  name: 'accept',
  summary: 'verifies a captured delivery, and stores it as if it had just arrived',
  usage:
    ' <file>\n\nThe file is one that capture wrote, or a Delivery of this package as JSON. It is verified with PAYMENTS_WEBHOOK_SECRET,\nas at the time when it was received.',
  example: ' delivery-2026-01-31.json',
  flags: {
    scheme: [schemeFlag[0], 'what `identify --json` printed'],
    tolerance: ['<time>', 'how far its timestamp may be from its arrival, such as 2h; default 5m'],
  },
  words: 1,
  plan(given, [file]) {
    refuseUnless(file, 'Pass the file of a delivery, such as delivery-2026-01-31.json.');
    const scheme = readSchemeFlag(given.text('scheme'));
    const toleranceSeconds = readTolerance(given);
    const { rawBody, headers, receivedAt } = deliveryInFile(file);
    return async (inbox) => {
      const checks = readGivenChecks('inbox accept', {
        secret: await webhookSecret(),
        scheme,
        toleranceSeconds,
      });
      const body = { rawBody: rawBody.toString('base64'), encoding: 'base64' } as const;
      const own = Object.fromEntries(headerPairs(headers));
      const delivery = recoverDelivery(checks, { ...body, headers: own, receivedAt });
      // The second key is that of a delivery with other content under a known key.
      const keys = [delivery.key, `${delivery.key}#${delivery.digest}`];
      const findEntries = () => Promise.all(keys.map((key) => inbox.get(key)));
      const before = await findEntries();
      await inbox.accept(delivery);
      const after = await findEntries();
      const stored = after.find((entry, at) => entry && !before[at]);
      const text = stored ? `stored as ${stored.key}` : `${delivery.key} was stored before`;
      return [
        paragraphs(verdict(true, text), stored?.lastError ?? ''),
        stored ?? { duplicate: delivery.key },
      ];
    };
  },
});
