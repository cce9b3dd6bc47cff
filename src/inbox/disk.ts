/** The variables that are set in places whose instances lose their disk, with the names of the places. */
const places: Readonly<Record<string, string>> = {
  VERCEL: 'Vercel',
  AWS_LAMBDA_FUNCTION_NAME: 'AWS Lambda',
  LAMBDA_TASK_ROOT: 'AWS Lambda',
  K_SERVICE: 'Google Cloud Run',
  DYNO: 'Heroku',
};

const warned = new Set<string>();

/** Warns, once for each file, if the file goes away with this instance. Files below /mnt are on a mounted disk, and stay. */
export function warnOfDisk(file: string): void {
  const variable = Object.keys(places).find((name) => process.env[name]);
  const isLocal = process.env.VERCEL_ENV === 'development';
  if (file === '' || file.startsWith('/mnt/') || !variable || isLocal || warned.has(file)) return;
  warned.add(file);
  console.warn(
    `merchant-payments: ${JSON.stringify(file)} is on a disk that goes away with this instance of ${places[variable]}, and ` +
      'stored payments with it. Pass "pool" for PostgreSQL to openInbox(), or store deliveries in a queue of yours with the ' +
      'option `accept` of handler() and nodeHandler().',
  );
}
