import { once } from 'node:events';
import { request } from 'node:http';

/** Targets that no route has. `fetch` would mend them, or refuse to send them. */
export const strangeTargets = [
  '//',
  '//other.example/',
  'http://a:99999/',
  '/thanks/%E0%A4%A?token=%E0',
  '/pictures/__proto__',
  '/pictures/constructor',
];

/** The status of a request whose line has this target as it is. */
export async function statusOf(port: number, target: string, method = 'GET'): Promise<number | undefined> {
  const sent = request({ host: 'localhost', port, path: target, method, agent: false }).end();
  const [response] = await once(sent, 'response');
  return response.resume().statusCode;
}

/** The status of a POST whose body never ends. */
export async function statusBeforeEnd(port: number, path: string): Promise<number | undefined> {
  const sent = request({ host: '127.0.0.1', port, path, method: 'POST', agent: false });
  sent.on('error', () => {}).write('payment=');
  const [response] = await once(sent, 'response', { signal: AbortSignal.timeout(10_000) });
  sent.destroy();
  return response.statusCode;
}
