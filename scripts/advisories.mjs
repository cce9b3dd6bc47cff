// `node scripts/advisories.mjs <sbom.cdx.json>`: scans an SBOM for advisories with OSV-Scanner, after a check that it finds
// those of a planted hono 4.0.0. Prints its report. Exits with 1 if an advisory was found, with 2 if the scan proves nothing.
import { spawnSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';

const [sbom] = process.argv.slice(2);
if (!sbom) fail('Name the SBOM: node scripts/advisories.mjs dist/sbom.cdx.json');

const planted = scan(fileURLToPath(new URL('../test/fixtures/planted.cdx.json', import.meta.url)));
if (!planted.isFound || !planted.report.includes('hono'))
  fail(`The scanner does not find the advisories of hono 4.0.0:\n${planted.report}`);

const { isFound, report } = scan(sbom);
console.log(report);
process.exitCode = isFound ? 1 : 0;

/** Returns a scan's report. OSV-Scanner exits with 0 without an advisory, with 1 with one, else it has not scanned. */
function scan(path) {
  const { status, stdout, stderr, error } = spawnSync(
    'osv-scanner',
    ['scan', 'source', '--format', 'markdown', '-L', path],
    { encoding: 'utf8' },
  );
  if (error) fail(`osv-scanner did not start: ${error.message}`);
  if (status !== 0 && status !== 1) fail(`osv-scanner exited with ${status}:\n${stderr}`);
  return { isFound: status === 1, report: stdout };
}

function fail(message) {
  console.log(message);
  process.exit(2);
}
