import { createRequire } from 'node:module';
import { join } from 'node:path';
import { PaymentsError } from '../errors.js';
import { type Inbox, openExistingInbox } from '../inbox/open-inbox.js';
import { hasMethods, type PostgresPool } from '../inbox/postgres.js';
import { CommandError } from './terminal.js';
import { webhookSecret } from './webhook-secret.js';

const isUrl = (place: string) => /^postgres(?:ql)?:\/\//.test(place);

/** Opens the inbox in a file, or in the database that a URL names, for the time of `work`. */
export async function withInbox<Result>(
  place: string,
  schema: string | undefined,
  work: (inbox: Inbox) => Promise<Result>,
): Promise<Result> {
  const pool = isUrl(place) ? poolOf(place) : undefined;
  const inbox = openExistingInbox(pool ? { pool, schema } : { file: place }, webhookSecret);
  try {
    return await work(inbox);
  } catch (error) {
    if (!pool || error instanceof PaymentsError || error instanceof CommandError) throw error;
    const reason = error instanceof Error ? error.message : String(error);
    throw new CommandError(`The database cannot be used: ${reason}.`);
  } finally {
    await inbox.close();
    await pool?.end();
  }
}

type OpenPool = PostgresPool & { end(): Promise<void> };

/** The shop's own `pg`, which also reads PGPASSWORD. Its errors name no password. */
function poolOf(connectionString: string): OpenPool {
  const shop = createRequire(join(process.cwd(), 'package.json'));
  let pg: unknown;
  try {
    pg = shop('pg');
  } catch {
    throw new CommandError(
      'The command needs the package "pg" of your shop, which is not installed in this folder. ' +
        'Run it in the folder of your shop, or run: npm install pg',
    );
  }
  const Pool: unknown = typeof pg === 'object' && pg !== null && Reflect.get(pg, 'Pool');
  const pool: unknown = typeof Pool === 'function' && Reflect.construct(Pool, [{ connectionString, max: 2 }]);
  if (hasMethods<OpenPool>(pool, 'connect', 'end')) return pool;
  throw new CommandError('The package "pg" in this folder has no Pool. Update it: npm install pg@8');
}
