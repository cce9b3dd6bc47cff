// Declarations of the main entry name the webhooks' by the file that users have, not by its place in src/.
import { readFileSync, writeFileSync } from 'node:fs';

for (const [file, webhooks] of [
  ['dist/index.d.ts', './webhooks.js'],
  ['dist/index.d.cts', './webhooks.cjs'],
]) {
  writeFileSync(file, readFileSync(file, 'utf8').replace('./webhooks/index.js', webhooks));
}
