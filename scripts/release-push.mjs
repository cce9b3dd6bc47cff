// The end of `npm run release`: pushes the commit and its tag, both or neither. A tag without its commit would start a
// release of what `main` does not have; `--follow-tags` would also push tags that were never meant to be.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';

const { version } = JSON.parse(readFileSync('package.json', 'utf8'));
execFileSync('git', ['push', '--atomic', 'origin', 'HEAD:refs/heads/main', `refs/tags/v${version}`], {
  stdio: 'inherit',
});
