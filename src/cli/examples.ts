import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve, sep } from 'node:path';
import { sandboxKey, sandboxSecret } from '../sending/published.js';
import { version } from '../version.js';
import { command } from './command.js';
import { CommandError, codeOf, print } from './terminal.js';

/** True if Node runs TypeScript itself, as it does from 22.18 on. Otherwise tsx runs it. */
const runsTypeScript = Boolean(Reflect.get(process.features, 'typescript'));
const node = runsTypeScript ? 'node' : 'node --import tsx';

/** Node 20 has no SQLite, in which the shop keeps its orders. */
const libsql = process.getBuiltinModule('node:sqlite') ? {} : { libsql: '^0.5.29' };

const packageJson = {
  private: true,
  type: 'module',
  scripts: {
    start: `merchant-payments exec --webhook-path /webhooks -- ${node} shop/server.ts`,
    example: `merchant-payments exec -- ${node}`,
    sandbox: 'merchant-payments sandbox --webhook-url http://localhost:3000/webhooks',
  },
  dependencies: { 'merchant-payments': `^${version}`, ...libsql },
  ...(!runsTypeScript && { devDependencies: { tsx: '^4.19.0' } }),
};

const env = `# The sandbox's own values, which open nothing else. Start it with: npm run sandbox
PAYMENTS_BASE_URL=http://127.0.0.1:4380
PAYMENTS_API_KEY=${sandboxKey}
PAYMENTS_WEBHOOK_SECRET=${sandboxSecret}
`;

const made = {
  'package.json': `${JSON.stringify(packageJson, null, 2)}\n`,
  '.env': env,
  '.gitignore': '.env\nnode_modules/\n.next/\n*.sqlite*\n',
};

export const examples = command({
  summary: 'copies the examples into a folder, ready for npm start',
  usage: 'examples <folder>',
  example: 'examples shop',
  flags: {},
  words: 1,
  async run(given) {
    const folder = given.word('folder', 'examples shop');
    try {
      const { copied, kept } = copyInto(folder);
      const files = `file${kept.length === 1 ? ' is' : 's are'}`;
      const some = kept.length > 0 && `${kept.length} ${files} there already, unchanged`;
      const few = copied > 0 && kept.length > 0 ? `: ${kept.join(', ')}` : '';
      const done = [copied > 0 && `${copied} files copied to ${folder}`, some && some + few].filter(Boolean);
      print(`${done.join('\n')}\n\n${nextSteps(folder)}`);
      return 0;
    } catch (error) {
      if (!(error instanceof Error) || codeOf(error) === undefined) throw error;
      throw new CommandError(`${folder} could not be filled: ${error.message}`);
    }
  },
});

/** Copies the examples into a folder. Never overwrites a file. */
function copyInto(folder: string) {
  const manifest = createRequire(import.meta.url).resolve('merchant-payments/package.json');
  const source = join(dirname(manifest), 'examples');
  if (resolve(folder) === source)
    throw new CommandError(`${folder} is the folder of the examples. Pass another one.`);
  const examples = readdirSync(source, { recursive: true, encoding: 'utf8' })
    .filter((path) => statSync(join(source, path)).isFile())
    .map((path) => [path, readFileSync(join(source, path))] as const);
  const files = [...examples, ...Object.entries(made)];
  const kept = files.filter(([path, content]) => !writeNew(join(folder, path), content));
  return { copied: files.length - kept.length, kept: kept.map(([path]) => path.replaceAll(sep, '/')) };
}

function writeNew(file: string, content: string | Uint8Array): boolean {
  mkdirSync(dirname(file), { recursive: true });
  try {
    writeFileSync(file, content, { flag: 'wx' });
    return true;
  } catch (error) {
    if (codeOf(error) === 'EEXIST') return false;
    throw error;
  }
}

function nextSteps(folder: string): string {
  if (!readFileSync(join(folder, 'package.json'), 'utf8').includes('shop/server.ts'))
    return 'The package.json of this folder has other scripts, so "npm start" does not run the shop. Copy into a new folder:\n  merchant-payments examples shop';
  return `  cd ${/^[\w./-]+$/.test(folder) ? folder : JSON.stringify(folder)}
  npm install
  npm start                            the sandbox, a shop and its webhooks
  npm run example list-products.ts     any other example, with a sandbox of its own`;
}
