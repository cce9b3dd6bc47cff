import { constants, copyFileSync, mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { version } from '../version.js';
import type { Command } from './command.js';
import { Flags } from './flags.js';
import { sandboxKey, sandboxSecret } from './serving-flags.js';
import { CommandError, print, UsageError } from './terminal.js';

/** Node runs TypeScript by itself from 22.18 on; before that, tsx does. */
const runsTypeScript = Boolean(Reflect.get(process.features, 'typescript'));
const node = runsTypeScript ? 'node' : 'node --import tsx';

const packageJson = {
  private: true,
  type: 'module',
  scripts: {
    start: `merchant-payments exec --webhook-path /webhooks -- ${node} shop/server.ts`,
    example: `merchant-payments exec -- ${node}`,
    sandbox: 'merchant-payments sandbox --webhook-url http://localhost:3000/webhooks',
  },
  dependencies: { 'merchant-payments': `^${version}` },
  ...(!runsTypeScript && { devDependencies: { tsx: '^4.19.0' } }),
};

const env = `# The sandbox's own values, which open nothing else. Start it with: npm run sandbox
PAYMENTS_BASE_URL=http://127.0.0.1:4380
PAYMENTS_API_KEY=${sandboxKey}
PAYMENTS_WEBHOOK_SECRET=${sandboxSecret}
`;

/** Files that make a folder of its own out of the examples. */
const made: Readonly<Record<string, string>> = {
  'package.json': `${JSON.stringify(packageJson, null, 2)}\n`,
  '.env': env,
  '.gitignore': '.env\nnode_modules/\n.next/\n',
};

export const examples: Command = {
  summary: 'copies the examples into a folder, ready for npm start',
  usage: 'examples <folder>',
  example: 'examples shop',
  flags: {},
  async run(args) {
    const [target] = new Flags({}, args, 1).positionals;
    if (target === undefined)
      throw new UsageError('The folder is missing. Name one: merchant-payments examples shop');
    try {
      const source = join(
        dirname(fileURLToPath(import.meta.resolve('merchant-payments/package.json'))),
        'examples',
      );
      const folder = resolve(target);
      if (folder === source)
        throw new CommandError(`${target} is the folder of the examples. Pass another one.`);
      const { copied, kept } = copyInto(folder, source);
      print(report(target, folder, copied, kept));
      return 0;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error)) throw error;
      throw new CommandError(`${target} could not be filled: ${error.message}`);
    }
  },
};

function copyInto(folder: string, source: string): { copied: number; kept: string[] } {
  const kept: string[] = [];
  let copied = 0;
  const put = (path: string, write: (target: string) => void) => {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    try {
      write(file);
      copied++;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      kept.push(path.replaceAll(sep, '/'));
    }
  };
  // COPYFILE_EXCL and wx: a file that is there is never overwritten.
  for (const entry of readdirSync(source, { recursive: true, withFileTypes: true })) {
    if (!entry.isFile()) continue;
    const from = join(entry.parentPath, entry.name);
    put(relative(source, from), (to) => copyFileSync(from, to, constants.COPYFILE_EXCL));
  }
  for (const [path, text] of Object.entries(made)) put(path, (to) => writeFileSync(to, text, { flag: 'wx' }));
  return { copied, kept };
}

function report(target: string, folder: string, copied: number, kept: readonly string[]): string {
  const steps = [`cd ${target}`];
  const needed = runsTypeScript ? ['merchant-payments'] : ['merchant-payments', 'tsx'];
  if (!needed.every((name) => isInstalled(folder, name))) steps.push('npm install');
  steps.push('npm start                            the sandbox, a shop and its webhooks');
  steps.push('npm run example list-products.ts     any other example, with a sandbox of its own');
  const unchanged =
    kept.length > 0 ? `${kept.length} were there and are unchanged: ${kept.join(', ')}\n` : '';
  return `${copied} files copied to ${target}\n${unchanged}\n${steps.map((step) => `  ${step}`).join('\n')}`;
}

function isInstalled(folder: string, name: string): boolean {
  try {
    createRequire(join(folder, 'package.json')).resolve(name);
    return true;
  } catch {
    return false;
  }
}
