// An example as the program of a shop, in a folder of its own.
import { Program } from '../../src/crash-test/program.js';
import { freePort } from '../../test/helpers/ports.js';

export const secret = 'whsec_of_the_fulfilment';

/** Starts an example as a reader would, on a Node that runs TypeScript, and waits until its receiver answers. */
export async function startShop(file: string, cwd: string, env: NodeJS.ProcessEnv): Promise<Program> {
  const PORT = String(await freePort());
  const shop = new Program({
    command: [process.execPath, file],
    cwd,
    env: { ...process.env, ...env, PORT },
    url: `http://127.0.0.1:${PORT}/webhooks`,
    startMs: 60_000,
  });
  await shop.waitUntilReady();
  return shop;
}
