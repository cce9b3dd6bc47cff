import { spawn } from 'node:child_process';

/** Does what a customer's browser does on the payment page: opens it, posts its form, follows it back to the shop. */
export async function payInBrowser(url: string): Promise<string> {
  const html = await (await fetch(url)).text();
  const form = /<form[^>]*action="([^"]*\/pay)"[^>]*>(.*?)<\/form>/s.exec(html);
  if (!form?.[1] || !form[2]) throw new Error(`There is no form to pay with at ${url}.`);
  const fields = new URLSearchParams();
  for (const [input] of form[2].matchAll(/<input[^>]*>/g)) {
    const name = attribute(input, 'name');
    const chosen = attribute(input, 'type') !== 'radio' || / checked\b/.test(input);
    if (name && chosen) fields.append(name, attribute(input, 'value') ?? 'on');
  }
  const done = await fetch(new URL(form[1], url), {
    method: 'POST',
    headers: { origin: new URL(url).origin },
    body: fields,
  });
  const [, returnUrl] = /url=(.*)/.exec(done.headers.get('refresh') ?? '') ?? [];
  if (!returnUrl) throw new Error(`The payment page at ${done.url} leads nowhere.`);
  return returnUrl;
}

function attribute(tag: string, name: string): string | undefined {
  return new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1];
}

/** Opens the default browser where there is one; who has none opens the printed address. */
export function openInBrowser(url: string): void {
  const command = { darwin: 'open', win32: 'explorer' }[process.platform as string] ?? 'xdg-open';
  spawn(command, [url], { stdio: 'ignore', detached: true })
    .on('error', () => {})
    .unref();
}
