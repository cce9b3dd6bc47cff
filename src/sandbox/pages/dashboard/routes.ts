import type { Context } from 'hono';
import { Hono } from 'hono/tiny';
import type { SandboxContext } from '../../context.js';
import { readForm } from '../../http/body.js';
import { SandboxError } from '../../sandbox-error.js';
import { checkoutsPage } from './checkouts.js';
import { developerPage, type Shown } from './developer.js';
import { diagnosisPage } from './diagnosis.js';
import { eventPage } from './event.js';
import { eventsPage } from './events.js';
import { dashboardPage, empty, type FailedAction } from './frame.js';
import { overviewPage } from './overview.js';
import { requestsPage } from './requests.js';

type Fields = Record<string, unknown>;
/** Shows a page with what went wrong on it. */
type Show = (failed: FailedAction, fields: Fields, id: string) => Promise<Response>;

/** The dashboard: everything that happened in the sandbox, and the buttons of what may happen. */
export function dashboardPages(context: SandboxContext): Hono {
  const { sandbox, store, guard, payments } = context;
  const pages = new Hono();
  const overview: Show = (failed) => overviewPage(context, failed);
  const checkouts: Show = (failed) => checkoutsPage(context, undefined, failed);
  const events: Show = (failed) => eventsPage(context, undefined, failed);
  const event: Show = (failed, _, id) => {
    const record = store.events.get(id);
    return record ? eventPage(context, record, failed) : unknownEvent();
  };
  const developer: Show = (failed, { url }) =>
    developerPage(context, hidden, failed, typeof url === 'string' ? url : undefined);

  pages.get('/', () => overviewPage(context));
  pages.get('/checkouts', (c) => checkoutsPage(context, c.req.query('page')));
  pages.get('/events', (c) => eventsPage(context, c.req.query('page')));
  pages.get('/requests', (c) => requestsPage(context, c.req.query('page')));
  pages.get('/developer', (c) => developerPage(context, shown(c)));
  pages.get('/events/:id', (c) => event({}, {}, c.req.param('id')));

  /** Does what a form asks for and leads to the page that shows it, or is it; a refusal is shown where the form was. */
  function action(path: string, show: Show, run: (fields: Fields, id: string) => Promise<string | Response>) {
    pages.post(path, async (c) => {
      const fields = await readForm(c.req.raw);
      const id = c.req.param('id') ?? '';
      if (!guard.checkToken('dashboard', fields.token)) {
        const problem = 'The form is out of date: the sandbox was started anew. Nothing was done.';
        return show({ problem, status: 403 }, fields, id);
      }
      try {
        const next = await run(fields, id);
        return typeof next === 'string' ? c.redirect(next, 303) : next;
      } catch (error) {
        if (!(error instanceof SandboxError)) throw error;
        const status = error.code === 'unknown_id' ? 404 : 409;
        return show({ problem: error.message, status }, fields, id);
      }
    });
  }

  action('/balance', overview, async (fields) => {
    const amount = String(fields.amount ?? '').trim();
    if (fields.do === 'freeze') sandbox.freeze(amount);
    else if (fields.do === 'release') sandbox.release(amount);
    else sandbox.settle();
    return '/';
  });
  action('/clock', overview, async (fields) => {
    await sandbox.advanceTime(fields.by === '1d' ? '1d' : '1h');
    return '/';
  });
  action('/reset', overview, async () => {
    sandbox.reset();
    return '/';
  });
  action('/checkouts/:id', checkouts, async (fields, id) => {
    if (fields.do === 'pay') payments.pay(id, 'card');
    else if (fields.do === 'expire') payments.expire(id);
    else payments.decline(id, 'card_declined');
    return '/checkouts';
  });
  action('/events/deliver', events, async () => {
    await sandbox.deliver();
    return '/events';
  });
  action('/events/:id/redeliver', event, async (_, id) => {
    await sandbox.redeliver(id);
    return `/events/${id}`;
  });
  action('/developer/key', developer, async () => {
    sandbox.regenerateKey();
    return '/developer?show=key';
  });
  action('/developer/webhook', developer, async ({ url }) => {
    const text = String(url ?? '').trim();
    sandbox.setWebhook(text === '' ? undefined : text);
    return '/developer#webhook';
  });
  action('/developer/test-event', developer, async () => {
    const { event } = await sandbox.trigger('order.paid');
    return `/events/${event.id}`;
  });
  action('/developer/doctor', developer, async () => diagnosisPage(context, await sandbox.doctor()));

  return pages;
}

const hidden: Shown = { key: false, secret: false };

function shown(c: Context): Shown {
  const asked = c.req.queries('show') ?? [];
  return { key: asked.includes('key'), secret: asked.includes('secret') };
}

const unknownEvent = () =>
  dashboardPage({
    title: 'Unknown event',
    tab: '/events',
    status: 404,
    content: empty('There is no such event. The sandbox forgets its events when it is reset or ends.'),
  });
