// The outbox with graphile-worker, which deletes the jobs that are done: a trigger notes each that was enqueued.
import { runMigrations } from 'graphile-worker';
import { Client } from 'pg';

const connectionString = process.env.DATABASE_URL;
await runMigrations({ connectionString });
const client = new Client({ connectionString });
await client.connect();
await client.query(`SELECT pg_advisory_xact_lock(2);
  CREATE TABLE IF NOT EXISTS enqueued (id text NOT NULL);
  CREATE OR REPLACE FUNCTION note_job() RETURNS trigger LANGUAGE plpgsql AS
    $$ BEGIN INSERT INTO public.enqueued VALUES (NEW.payload->>'orderId'); RETURN NULL; END $$;
  CREATE OR REPLACE TRIGGER note_job AFTER INSERT ON graphile_worker._private_jobs FOR EACH ROW EXECUTE FUNCTION note_job()`);
await client.end();
await import('../../.examples/fulfilment/outbox/graphile-worker.ts');
