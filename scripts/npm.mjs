import { execFileSync } from 'node:child_process';

/**
 * Runs npm and returns what it prints. On Windows npm is a script, which needs a shell to start; npm's own file, which npm
 * names to the scripts that it runs, needs none, and takes any path as it is.
 */
export function npm(args, options = {}) {
  const own = process.env.npm_execpath;
  const all = { encoding: 'utf8', ...options };
  return own?.endsWith('npm-cli.js')
    ? execFileSync(process.execPath, [own, ...args], all)
    : execFileSync('npm', args, { ...all, shell: process.platform === 'win32' });
}
