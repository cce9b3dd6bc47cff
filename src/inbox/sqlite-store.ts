import { statSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { ConfigurationError, PaymentsError } from '../errors.js';
import type { Delivery } from '../webhooks/delivery.js';
import { isThenable } from '../webhooks/own-options.js';
import { Connection, isBusy, type SqliteDatabase, type SqliteValue } from './sqlite.js';
import { openFile, setUpFile, setUpTables } from './sqlite-tables.js';
import {
  type Claim,
  type Claimed,
  commitError,
  type InboxEntry,
  type InboxState,
  type InboxStats,
  type InboxStore,
  inboxStates,
  type KnownEntry,
  lostLease,
  type NewEntry,
  type RefusedDelivery,
  type RefusedRecord,
  type Settlement,
} from './store.js';

/** Where an inbox on SQLite is: a file of its own, or the shop's database. */
export type SqlitePlace = { file: string } | { database: SqliteDatabase };

type Row = Record<string, unknown>;

/** A clock that was this far ahead is taken for wrong: what it made due is due now. */
const wrongClockMs = 10_000;
const purgedAtOnce = 500;

/** Deliveries in a SQLite database. */
export class SqliteStore implements InboxStore {
  readonly identity: readonly unknown[];
  readonly pollMs = 250;
  readonly #place: SqlitePlace;
  readonly #create: boolean;
  readonly #connection: Connection;
  readonly #file: string | undefined;
  #isReady = false;

  /** Throws what makes the place unusable. If it is only locked, its tables are made later. */
  constructor(place: SqlitePlace, { create } = { create: true }) {
    this.#place = place;
    this.#create = create;
    const database = 'file' in place ? usable(place, () => openFile(place.file, { create })) : place.database;
    this.#connection = usable(place, () => new Connection(database));
    try {
      this.#connection.atOnce(() => this.#setUp());
    } catch (error) {
      if (!isBusy(error)) {
        if ('file' in place) database.close();
        throw error;
      }
    }
    this.#file = identityOf(this.#connection.path);
    this.identity = [this.#file ?? database];
  }

  insert({ key, delivery, state, lastError }: NewEntry): Promise<KnownEntry | undefined> {
    const { event, rawBody, encoding, headers, receivedAt, digest } = delivery;
    const now = Date.now();
    const due = state === 'pending' ? now : null;
    return this.#write(true, (db) => {
      const { id } =
        db.first(
          `INSERT INTO payments_inbox (key, digest, state, received_at, due_at, due_set_at, last_error)
           VALUES (?, ?, ?, ?, ?, ?, ?) ON CONFLICT (key) DO NOTHING RETURNING id`,
          ...[key, digest, state, Date.parse(receivedAt), due, due, lastError],
        ) ?? {};
      if (id === undefined) return this.#known(key);
      db.change(
        'INSERT INTO payments_inbox_content VALUES (?, ?, ?, ?, ?)',
        ...[Number(id), JSON.stringify(event), rawBody, encoding ?? null, JSON.stringify(headers)],
      );
      return undefined;
    }).then((known) => {
      this.#checkFile();
      return known;
    });
  }

  read(key: string): Promise<Delivery | undefined> {
    return this.#run((db) => {
      const sql = 'SELECT * FROM payments_inbox JOIN payments_inbox_content USING (id) WHERE key = ?';
      const row = db.first(sql, key);
      return row && toDelivery(row);
    });
  }

  async remove(key: string): Promise<void> {
    await this.#write(true, (db) => {
      const row = db.first(
        "DELETE FROM payments_inbox WHERE key = ? AND state IN ('pending', 'parked') RETURNING id",
        key,
      );
      if (row) db.change('DELETE FROM payments_inbox_content WHERE id = ?', Number(row.id));
    });
  }

  async claim({
    most,
    held,
    leaseMs,
  }: {
    most: number;
    held: readonly number[];
    leaseMs: number;
  }): Promise<Claimed> {
    const now = Date.now();
    const { due, latest } = await this.#due();
    if (latest > now + wrongClockMs) await this.#write(false, () => this.#correct(now, leaseMs));
    else if (due > now) return { claims: [], waitMs: due - now };
    const rows = await this.#write(false, (db) =>
      db
        .all(
          `UPDATE payments_inbox SET lost = lost + (state = 'running'), state = 'running', attempts = attempts + 1,
             due_at = ?, due_set_at = ?, started_at = ?
           WHERE id IN (SELECT id FROM payments_inbox
             WHERE due_at <= ? AND NOT (state = 'running' AND id IN (SELECT value FROM json_each(?)))
             ORDER BY due_at, id LIMIT ?)
           RETURNING *`,
          ...[now + leaseMs, now, now, now, JSON.stringify(held), most],
        )
        .map((row) => ({
          ...row,
          ...db.first('SELECT * FROM payments_inbox_content WHERE id = ?', Number(row.id)),
        })),
    );
    const waitMs = Math.max(0, (await this.#due()).due - now);
    return { claims: rows.map(toClaim).sort((one, other) => one.id - other.id), waitMs };
  }

  renew(claims: readonly Claim[], leaseMs: number): Promise<Claim[]> {
    return this.#write(false, () => {
      const now = Date.now();
      return claims.filter(
        (claim) => !this.#changeClaimed(claim, 'due_at = ?, due_set_at = ?', now + leaseMs, now),
      );
    });
  }

  settle(claim: Claim, settlement: Settlement): Promise<boolean> {
    return this.#write(true, () => this.#settle(claim, settlement));
  }

  /** Marks it done first: even if `fn` ends the transaction itself, its writes are not repeated. */
  commit(claim: Claim, fn: unknown): unknown {
    if (typeof fn !== 'function') throw commitError('commit() takes a function.');
    if (Object.prototype.toString.call(fn) === '[object AsyncFunction]') throw isAsync();
    const db = this.#connection;
    const work = () => {
      if (!this.#settle(claim, { state: 'done' })) throw lostLease();
      const result: unknown = Reflect.apply(fn, undefined, [db.database]);
      if (!isThenable(result)) return result;
      // Nobody else handles its rejection, which must not end the process.
      Promise.resolve(result).catch(() => {});
      throw isAsync();
    };
    try {
      return db.atOnce(() => db.transaction(work, { durable: true }));
    } catch (error) {
      throw isBusy(error) ? busy(error) : error;
    }
  }

  hasWork(): Promise<boolean> {
    const sql =
      "SELECT 1 FROM payments_inbox WHERE due_at IS NOT NULL AND (state = 'running' OR due_at <= ?) LIMIT 1";
    return this.#run((db) => db.first(sql, Date.now()) !== undefined);
  }

  stats(): Promise<InboxStats> {
    return this.#run((db) => {
      const counted = db.all('SELECT state, count(*) AS count FROM payments_inbox GROUP BY state');
      const count = (state: InboxState) => Number(counted.find((row) => row.state === state)?.count ?? 0);
      const ageOf = (state: InboxState, column: string) => {
        const [oldest] = Object.values(
          db.first(`SELECT min(${column}) FROM payments_inbox WHERE state = ?`, state) ?? {},
        );
        return oldest === null ? null : Math.max(0, Date.now() - Number(oldest));
      };
      return {
        pending: count('pending'),
        running: count('running'),
        done: count('done'),
        parked: count('parked'),
        refused: Number(db.first('SELECT count(*) AS count FROM payments_inbox_refused')?.count),
        oldestPendingMs: ageOf('pending', 'received_at'),
        oldestRunningMs: ageOf('running', 'started_at'),
      };
    });
  }

  list({ state, limit, after }: { state: InboxState | undefined; limit: number; after: string | undefined }) {
    const conditions = [
      state === undefined ? '' : 'AND state = ?',
      after === undefined ? '' : 'AND id < (SELECT id FROM payments_inbox WHERE key = ?)',
    ].join(' ');
    const values = [state, after].filter((value) => value !== undefined);
    return this.#run((db) =>
      db.all(`${entries} WHERE true ${conditions} ORDER BY id DESC LIMIT ?`, ...values, limit).map(toEntry),
    );
  }

  get(key: string): Promise<InboxEntry | undefined> {
    return this.#run((db) => {
      const row = db.first(`${entries} WHERE key = ?`, key);
      return row && toEntry(row);
    });
  }

  retry(key: string | undefined, force: boolean): Promise<number> {
    const which =
      key === undefined
        ? // Another content under a known key is for a person to decide, one by one.
          "state = 'parked' AND substr(key, -17) IS NOT '#' || digest"
        : `key = ? AND state IN (${force ? "'running'," : ''} 'pending', 'parked')`;
    const now = Date.now();
    return this.#write(true, (db) =>
      db.change(
        `UPDATE payments_inbox
         SET state = 'pending', due_at = ?, due_set_at = ?, started_at = NULL, failures = 0, lost = 0 WHERE ${which}`,
        ...[now, now, ...(key === undefined ? [] : [key])],
      ),
    );
  }

  async discard(key: string): Promise<boolean> {
    const sql = `UPDATE payments_inbox SET state = 'discarded', due_at = NULL, due_set_at = NULL, finished_at = ?
      WHERE key = ? AND state IN ('pending', 'parked')`;
    return (await this.#write(true, (db) => db.change(sql, Date.now(), key))) === 1;
  }

  async purge(olderThan: { ageMs: number } | Date): Promise<number> {
    const before = olderThan instanceof Date ? olderThan.getTime() : Date.now() - olderThan.ageMs;
    const sql = `DELETE FROM payments_inbox_content WHERE id IN (SELECT id FROM payments_inbox_content
      JOIN payments_inbox USING (id) WHERE finished_at < ? LIMIT ${purgedAtOnce})`;
    let purged = 0;
    for (let count = purgedAtOnce; count === purgedAtOnce; purged += count) {
      if (purged > 0) await sleep(0);
      count = await this.#write(true, (db) => db.change(sql, before));
    }
    await this.#run((db) => {
      // The write-ahead log has it too. SQLite refuses this while a transaction is open.
      if (!db.hasTransaction()) db.database.exec('PRAGMA wal_checkpoint(TRUNCATE)');
    });
    return purged;
  }

  async refuse(
    { code, receivedAt, bytes, headers, rawBody, encoding }: RefusedRecord,
    most: number,
  ): Promise<void> {
    const count = await this.#run((db) =>
      Number(db.first('SELECT count(*) AS count FROM payments_inbox_refused')?.count),
    );
    // A flood must not wait for the disk each time.
    await this.#write(count < most, (db) => {
      db.change(
        `INSERT INTO payments_inbox_refused (code, received_at, bytes, headers, raw_body, encoding)
         VALUES (?, ?, ?, ?, ?, ?)`,
        ...[code, Date.parse(receivedAt), bytes, JSON.stringify(headers), rawBody, encoding ?? null],
      );
      const first = Math.ceil(most / 10);
      db.change(
        `DELETE FROM payments_inbox_refused
         WHERE id NOT IN (SELECT id FROM payments_inbox_refused ORDER BY id LIMIT ?)
         AND id NOT IN (SELECT id FROM payments_inbox_refused ORDER BY id DESC LIMIT ?)`,
        ...[first, most - first],
      );
    });
  }

  refused(limit: number): Promise<RefusedDelivery[]> {
    return this.#run((db) =>
      db.all('SELECT * FROM payments_inbox_refused ORDER BY id DESC LIMIT ?', limit).map((row) => ({
        id: Number(row.id),
        code: String(row.code),
        receivedAt: isoOf(row.received_at),
        bytes: Number(row.bytes),
        ...bodyOf(row),
      })),
    );
  }

  async forget(id: number): Promise<void> {
    await this.#write(true, (db) => db.change('DELETE FROM payments_inbox_refused WHERE id = ?', id));
  }

  async close(): Promise<void> {
    if ('file' in this.#place) this.#connection.database.close();
  }

  #run<Result>(work: (db: Connection) => Result): Promise<Result> {
    return this.#connection.whenFree(() => {
      this.#setUp();
      return work(this.#connection);
    });
  }

  #write<Result>(durable: boolean, work: (db: Connection) => Result): Promise<Result> {
    return this.#run((db) => db.transaction(() => work(db), { durable }));
  }

  #setUp(): void {
    if (this.#isReady) return;
    const [place, db] = [this.#place, this.#connection];
    usable(place, () =>
      'file' in place ? setUpFile(db, place.file, { create: this.#create }) : setUpTables(db, 'database'),
    );
    this.#isReady = true;
  }

  #known(key: string): KnownEntry {
    const { digest = null, event = null } =
      this.#connection.first(
        'SELECT digest, event FROM payments_inbox LEFT JOIN payments_inbox_content USING (id) WHERE key = ?',
        key,
      ) ?? {};
    return { digest: digest === null ? null : String(digest), event: JSON.parse(String(event)) };
  }

  /** When the next delivery is due, and when the latest of them was made due. */
  #due(): Promise<{ due: number; latest: number }> {
    return this.#run((db) => {
      const { due = null, latest = null } =
        db.first(
          `SELECT (SELECT min(due_at) FROM payments_inbox WHERE due_at IS NOT NULL) AS due,
             (SELECT max(due_set_at) FROM payments_inbox WHERE due_at IS NOT NULL) AS latest`,
        ) ?? {};
      return { due: due === null ? Number.POSITIVE_INFINITY : Number(due), latest: Number(latest) };
    });
  }

  /** What waits is due now. A function may still run, whose process has until the end of a lease to renew it. */
  #correct(now: number, leaseMs: number): void {
    this.#connection.change(
      `UPDATE payments_inbox SET due_at = iif(state = 'running', ?, ?), due_set_at = ?
       WHERE due_at IS NOT NULL AND due_set_at > ?`,
      ...[now + leaseMs, now, now, now + wrongClockMs],
    );
  }

  #settle(claim: Claim, settlement: Settlement): boolean {
    const { state } = settlement;
    const now = Date.now();
    const isPending = state === 'pending';
    const lastError = state === 'done' ? undefined : settlement.lastError;
    return this.#changeClaimed(
      claim,
      `state = ?, due_at = ?, due_set_at = ?, last_error = ?, failures = failures + ?, finished_at = ?, started_at = NULL`,
      ...[
        state,
        isPending ? Math.ceil(now + settlement.waitMs) : null,
        isPending ? now : null,
        lastError ?? null,
      ],
      ...[lastError === undefined ? 0 : 1, state === 'done' ? now : null],
    );
  }

  #changeClaimed({ id, attempt }: Claim, set: string, ...values: SqliteValue[]): boolean {
    const sql = `UPDATE payments_inbox SET ${set} WHERE id = ? AND state = 'running' AND attempts = ?`;
    return this.#connection.change(sql, ...values, id, attempt) === 1;
  }

  /** SQLite goes on writing into a deleted file, and what it writes is gone when the process ends. */
  #checkFile(): void {
    const { path } = this.#connection;
    const hasLog = this.#connection.pragma('journal_mode') === 'wal';
    if (identityOf(path) === this.#file && (!hasLog || identityOf(`${path}-wal`) !== undefined)) return;
    throw new ConfigurationError(
      `${JSON.stringify(path)} was deleted or replaced while the inbox was open, so what is stored would be lost. ` +
        'Restore the file with its -wal, or restart the process on a new one.',
    );
  }
}

const entries = `SELECT key, state, event, received_at, attempts, last_error, due_at
  FROM payments_inbox LEFT JOIN payments_inbox_content USING (id)`;

/** Says which file cannot be used, if that is why. */
function usable<Result>(place: SqlitePlace, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (!('file' in place) || error instanceof ConfigurationError || isBusy(error)) throw error;
    throw new ConfigurationError(
      `${JSON.stringify(place.file)} cannot be used as an inbox: ${error instanceof Error ? error.message : String(error)}. ` +
        'Pass a file that can be written, in a folder that exists.',
    );
  }
}

/** Empty in memory, where nothing is found. */
function identityOf(path: string): string | undefined {
  const found = path === '' ? undefined : statSync(path, { bigint: true, throwIfNoEntry: false });
  return found && `${found.dev}:${found.ino}`;
}

function toClaim(row: Row): Claim {
  return {
    id: Number(row.id),
    attempt: Number(row.attempts),
    failures: Number(row.failures),
    lost: Number(row.lost),
    delivery: toDelivery(row),
  };
}

function toDelivery(row: Row): Delivery {
  return {
    key: String(row.key),
    event: JSON.parse(String(row.event)),
    ...bodyOf(row),
    receivedAt: isoOf(row.received_at),
    digest: String(row.digest),
  };
}

function bodyOf(row: Row): Pick<Delivery, 'rawBody' | 'encoding' | 'headers'> {
  const body = { rawBody: String(row.raw_body), headers: JSON.parse(String(row.headers)) };
  return row.encoding === 'base64' ? { ...body, encoding: 'base64' } : body;
}

function toEntry(row: Row): InboxEntry {
  const state = inboxStates.find((known) => known === row.state) ?? 'parked';
  return {
    key: String(row.key),
    state,
    event: JSON.parse(String(row.event)), // null once it was purged
    receivedAt: isoOf(row.received_at),
    attempts: Number(row.attempts),
    lastError: row.last_error === null ? null : String(row.last_error),
    nextAttemptAt: state === 'pending' ? isoOf(row.due_at) : null,
  };
}

function isoOf(ms: unknown): string {
  return new Date(Number(ms)).toISOString();
}

function busy(error: unknown): PaymentsError {
  const reason = error instanceof Error ? error.message : String(error);
  return new PaymentsError(
    `commit() could not write: ${reason}. Nothing was written; the delivery is tried again.`,
    {
      code: 'inbox_busy',
    },
  );
}

function isAsync(): PaymentsError {
  return commitError(
    'commit() takes a synchronous function, because a transaction cannot wait: nothing was written. ' +
      'Await what is needed first, then call commit().',
  );
}
