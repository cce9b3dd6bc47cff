// A registry on this machine for one package. It answers what npm's documentation says of publishing, staging and the token of a
// workflow, and sends npm elsewhere for every other package.
import { createHash } from 'node:crypto';
import { serve } from '@hono/node-server';
import { Hono } from 'hono';

const name = 'merchant-payments';
export const stageId = '6f1c2a34-0d0b-4a53-9a55-3f4d6c1e7a10';
export const [idToken, token, otp] = ['of-this-run', 'of-a-maintainer', '123456'];
const exchanged = 'of-this-run-for-one-package';

/** Opens it on a port of its own. Only a token writes, and only a maintainer's with a second factor approves what is staged. */
export async function openRegistry(elsewhere) {
  let staged;
  let published;
  const app = new Hono();
  const requireToken =
    (...tokens) =>
    (c, next) =>
      tokens.some((one) => c.req.header('authorization') === `Bearer ${one}`)
        ? next()
        : c.json({ error: 'unauthorized' }, 401);

  app.get('/id-token', requireToken(idToken), (c) => c.json({ value: idToken }));
  app.post(`/-/npm/v1/oidc/token/exchange/package/${name}`, requireToken(idToken), (c) =>
    c.json({ token: exchanged }, 201),
  );
  app.post(`/-/stage/package/${name}`, requireToken(exchanged), async (c) => {
    staged = await c.req.json();
    return c.json({ stageId }, 201);
  });
  app.get('/-/stage', requireToken(token), (c) => {
    const [version] = Object.keys(staged.versions);
    return c.json({ items: [{ id: stageId, packageName: name, version }], total: 1 });
  });
  app.get(`/-/stage/${stageId}/tarball`, requireToken(token), (c) => c.body(tarball(staged)));
  app.post(`/-/stage/${stageId}/approve`, requireToken(token), (c) => {
    if (c.req.header('npm-otp') !== otp) return c.json({ error: 'a second factor is missing' }, 401);
    published = staged;
    return c.json({}, 201);
  });
  app.put(`/${name}`, requireToken(token), async (c) => {
    published = await c.req.json();
    return c.json({}, 201);
  });
  app.get(`/${name}`, (c) => (published ? c.json(withTime(published)) : c.json({ error: 'not found' }, 404)));
  app.get(`/${name}/-/*`, (c) => c.body(tarball(published)));
  app.all('*', (c) => c.redirect(new URL(new URL(c.req.url).pathname, elsewhere).href));

  const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' });
  await new Promise((resolve) => server.once('listening', resolve));
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    /** SHA-256 of what everybody gets. */
    digest: () => published && createHash('sha256').update(tarball(published)).digest('hex'),
    close: () => {
      server.close();
      server.closeAllConnections();
    },
  };
}

function tarball({ _attachments }) {
  const [{ data }] = Object.values(_attachments);
  return Buffer.from(data, 'base64');
}

function withTime({ _attachments, ...document }) {
  const now = new Date().toISOString();
  const versions = Object.keys(document.versions);
  return { ...document, time: Object.fromEntries(versions.map((version) => [version, now])) };
}
