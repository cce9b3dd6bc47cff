// `npm start`: builds the package, then runs the demo shop beside a sandbox.
import { npm } from './npm.mjs';

npm(['run', '--silent', 'build'], { stdio: 'inherit' });
process.chdir('examples');
const shop = [process.execPath, '--import', 'tsx', 'shop/server.ts'];
process.argv.push('exec', '--webhook-path', '/webhooks', '--', ...shop);
await import('../dist/cli.js');

// If npm alone is ended, its shell ends too and passes nothing on: this process gets another parent, except on Windows.
const { ppid } = process;
setInterval(() => {
  if (process.ppid !== ppid) process.kill(process.pid, 'SIGTERM');
}, 500).unref();
