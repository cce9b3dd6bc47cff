/** Runs once when the server starts: what is stored is fulfilled before the first request. */
export async function register(): Promise<void> {
  if (process.env.NEXT_RUNTIME === 'nodejs') await import('./lib/inbox.ts');
}
