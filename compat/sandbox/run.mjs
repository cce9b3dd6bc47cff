// The sandbox in other languages' hands: its control routes alone.
import { fileURLToPath } from 'node:url';
import { check, run } from '../check.mjs';

const cli = fileURLToPath(new URL('../node_modules/merchant-payments/dist/cli.js', import.meta.url));
const cwd = fileURLToPath(new URL('.', import.meta.url));
const exec = (...command) => run(process.execPath, [cli, 'exec', '--', ...command], { cwd });

await check('pytest drives the sandbox', () =>
  exec('python3', '-m', 'pytest', '-q', '-p', 'no:cacheprovider', 'test_control.py'),
);
await check('a PHP script drives the sandbox', () => exec('php', 'control.php'));
await check('emulate runs the sandbox as one of its services', () =>
  run(process.execPath, ['--import', 'tsx', '--test', 'emulate.test.ts'], { cwd }),
);
