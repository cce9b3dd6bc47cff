// Writes the files of dist/ that only pass on another: the types of every ESM entry, its sandbox and its command.

import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';

const dist = new URL('../dist/', import.meta.url);
const write = (name, text, mode) => writeFileSync(new URL(name, dist), text, { mode });

for (const entry of ['index', 'webhooks', 'inbox', 'matching', 'sandbox']) {
  write(`${entry}.d.ts`, `export * from './${entry}.cjs';\n`);
}
// Declarations of the main entry name the webhooks' by the file that users have, not by its place in src/.
const types = readFileSync(new URL('index.d.cts', dist), 'utf8');
write('index.d.cts', types.replace('./webhooks/index.js', './webhooks.cjs'));
// Projects whose `lib` ends with an older standard do not have the types of `await using`.
for (const entry of ['inbox', 'sandbox']) {
  const declarations = readFileSync(new URL(`${entry}.d.cts`, dist), 'utf8');
  write(`${entry}.d.cts`, `/// <reference lib="esnext.disposable" />\n${declarations}`);
}

const names = Object.keys(createRequire(dist)('./sandbox.cjs'));
write('sandbox.js', `export { ${names.join(', ')} } from './sandbox.cjs';\n`);
write('cli.js', "#!/usr/bin/env node\nimport './cli.cjs';\n", 0o755);
