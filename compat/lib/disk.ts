// A small disk of its own, which can be filled and freed. Mounting one needs root.
import { spawnSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

export interface Disk {
  folder: string;
  /** Writes until nothing more fits. */
  fill(): void;
  free(): void;
  remove(): void;
}

/** Returns a disk of so many megabytes, or `undefined` where it cannot be mounted. */
export function mountDisk(megabytes: number): Disk | undefined {
  const folder = mkdtempSync(join(tmpdir(), 'disk-'));
  const size = `size=${megabytes}m,mode=0777`;
  const { status } = spawnSync('mount', ['-t', 'tmpfs', '-o', size, 'tmpfs', folder]);
  const filler = join(folder, 'filler');
  const removeFolder = () => rmSync(folder, { recursive: true });
  if (status !== 0) {
    removeFolder();
    return undefined;
  }
  return {
    folder,
    fill() {
      for (let size = 1 << 20; size >= 1; size >>= 1)
        try {
          for (;;) appendFileSync(filler, Buffer.alloc(size));
        } catch {
          // So much does not fit any more.
        }
    },
    free: () => rmSync(filler, { force: true }),
    remove() {
      spawnSync('umount', ['--lazy', folder]);
      removeFolder();
    },
  };
}
