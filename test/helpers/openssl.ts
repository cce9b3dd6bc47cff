import { createHmac } from 'node:crypto';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { runProcessSync } from './processes.js';

/**
 * HMACs of many texts with one key, made by `openssl`, which shares no code with this package; where it is not
 * installed, by Node's own `createHmac`.
 */
export function macsOf(hash: string, keyHex: string, texts: readonly Buffer[]): Buffer[] {
  const folder = mkdtempSync(join(tmpdir(), 'macs-'));
  try {
    const files = texts.map((text, index) => {
      const file = join(folder, String(index));
      writeFileSync(file, text);
      return file;
    });
    const options = ['dgst', `-${hash}`, '-mac', 'HMAC', '-macopt', `hexkey:${keyHex}`, '-r'];
    const lines = runProcessSync('openssl', [...options, ...files])
      .stdout.trim()
      .split('\n');
    return lines.map((line) => Buffer.from(line.split(' ')[0] ?? '', 'hex'));
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error;
    return texts.map((text) => createHmac(hash, Buffer.from(keyHex, 'hex')).update(text).digest());
  } finally {
    rmSync(folder, { recursive: true, maxRetries: 10 });
  }
}
