// `node scripts/set-repository.mjs --check` fails unless package.json names the repository, which npm compares with the
// one that a provenance statement names.
import { readFileSync } from 'node:fs';

const { repository } = JSON.parse(readFileSync('package.json', 'utf8'));
const url = typeof repository === 'string' ? repository : repository?.url;
if (typeof url !== 'string' || url === '') {
  console.error(
    'package.json has no "repository", so npm would refuse the provenance and nobody could find the source. ' +
      'Set it to the address of this repository before you release.',
  );
  process.exitCode = 1;
} else {
  console.log(`package.json names the repository ${url}`);
}
