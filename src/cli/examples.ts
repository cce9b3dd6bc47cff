import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { fileURLToPath } from 'node:url';
import { parseObject } from '../doctor/json.js';
import { version } from '../version.js';
import { command } from './command.js';
import { sandboxKey, sandboxSecret } from './serving-flags.js';
import { CommandError, codeOf, print, UsageError } from './terminal.js';

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

export const examples = command({
  summary: 'copies the examples into a folder, ready for npm start',
  usage: 'examples <folder>',
  example: 'examples shop',
  flags: {},
  words: 1,
  async run({ positionals: [target] }) {
    if (target === undefined)
      throw new UsageError('The folder is missing. Name one: merchant-payments examples shop');
    try {
      const inPackage = fileURLToPath(import.meta.resolve('merchant-payments/package.json'));
      const source = join(dirname(inPackage), 'examples');
      const folder = resolve(target);
      if (folder === source)
        throw new CommandError(`${target} is the folder of the examples. Pass another one.`);
      const { copied, kept } = copyInto(folder, source);
      print(report(target, folder, copied, kept));
      return 0;
    } catch (error) {
      if (!(error instanceof Error) || codeOf(error) === undefined) throw error;
      throw new CommandError(`${target} could not be filled: ${error.message}`);
    }
  },
});

/** Never overwrites a file that is there. */
function copyInto(folder: string, source: string): { copied: number; kept: string[] } {
  const examples = readdirSync(source, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
    .map((from) => [relative(source, from), readFileSync(from)] as const);
  const files = [...examples, ...Object.entries(made)];
  const kept: string[] = [];
  for (const [path, content] of files) {
    const file = join(folder, path);
    mkdirSync(dirname(file), { recursive: true });
    try {
      writeFileSync(file, content, { flag: 'wx' });
    } catch (error) {
      if (codeOf(error) !== 'EEXIST') throw error;
      kept.push(path.replaceAll(sep, '/'));
    }
  }
  return { copied: files.length - kept.length, kept };
}

function report(target: string, folder: string, copied: number, kept: readonly string[]): string {
  const unchanged =
    kept.length > 0 ? `${kept.length} were there and are unchanged: ${kept.join(', ')}\n` : '';
  return `${copied} files copied to ${target}\n${unchanged}\n${nextSteps(target, folder)}`;
}

function nextSteps(target: string, folder: string): string {
  if (!startsShop(folder))
    return 'The package.json of this folder has other scripts, so "npm start" does not run the shop. Copy into a new folder:\n  merchant-payments examples shop';
  const needed = runsTypeScript ? ['merchant-payments'] : ['merchant-payments', 'tsx'];
  const steps = [
    `cd ${target}`,
    ...(needed.every((name) => isInstalled(folder, name)) ? [] : ['npm install']),
    'npm start                            the sandbox, a shop and its webhooks',
    'npm run example list-products.ts     any other example, with a sandbox of its own',
  ];
  return steps.map((step) => `  ${step}`).join('\n');
}

/** Whether the scripts of the folder's package.json are ours. */
function startsShop(folder: string): boolean {
  const { scripts } = parseObject(readFileSync(join(folder, 'package.json'), 'utf8')) ?? {};
  return JSON.stringify(scripts)?.includes('shop/server.ts') ?? false;
}

function isInstalled(folder: string, name: string): boolean {
  try {
    createRequire(join(folder, 'package.json')).resolve(name);
    return true;
  } catch {
    return false;
  }
}
