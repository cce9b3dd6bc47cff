import type { Context } from 'hono';
import { Hono } from 'hono/tiny';
import type { SandboxContext } from '../../context.js';
import { resolvedProblem } from '../../delivery/target.js';
import { readForm } from '../../http/body.js';
import { checked, SandboxError } from '../../sandbox-error.js';
import { eventType } from '../../service/event-types.js';
import { checkoutsPage } from './checkouts.js';
import { developerPage, type Shown } from './developer.js';
import { diagnosisPage } from './diagnosis.js';
import { eventPage } from './event.js';
import { eventsPage } from './events.js';
import { dashboardPage, empty, type FailedAction } from './frame.js';
import { overviewPage } from './overview.js';
import { productsPage } from './products.js';
import { requestsPage } from './requests.js';

type Fields = Readonly<Record<string, string>>;
/** Shows a page with what went wrong on it. */
type Show = (failed: FailedAction, fields: Fields, id: string) => Promise<Response>;

/** The dashboard: everything that happened in the sandbox, and buttons to make things happen. */
export function dashboardPages(context: SandboxContext): Hono {
  const { sandbox, store, guard, payments } = context;
  const pages = new Hono();
  const overview: Show = (failed) => overviewPage(context, failed);
  const products: Show = (failed) => productsPage(context, undefined, failed);
  const requests: Show = (failed) => requestsPage(context, undefined, failed);
  const checkouts: Show = (failed) => checkoutsPage(context, undefined, failed);
  const events: Show = (failed) => eventsPage(context, undefined, failed);
  const event: Show = (failed, _, id) => {
    const record = store.events.get(id);
    return record ? eventPage(context, record, failed) : unknownEvent();
  };
  const developer: Show = (failed, { url }) =>
    developerPage(context, { key: false, secret: false }, failed, url);

  pages.get('/', () => overviewPage(context));
  pages.get('/products', (c) => productsPage(context, c.req.query('page')));
  pages.get('/checkouts', (c) => checkoutsPage(context, c.req.query('page')));
  pages.get('/events', (c) => eventsPage(context, c.req.query('page')));
  pages.get('/requests', (c) => requestsPage(context, c.req.query('page')));
  pages.get('/developer', (c) => developerPage(context, shown(c)));
  pages.get('/events/:id', (c) => event({}, {}, c.req.param('id')));

  /**
   * Does what a form asks for and redirects to `next`, unless the result is a response. A refusal is shown on the page
   * with the form.
   */
  function action(path: string, show: Show, next: string, run: (fields: Fields, id: string) => unknown) {
    pages.post(path, async (c) => {
      const fields = await readForm(c.req.raw);
      const id = c.req.param('id') ?? '';
      if (!guard.checkToken('dashboard', fields.token)) {
        const problem = 'The form is out of date: the sandbox was started anew. Nothing was done.';
        return show({ problem, status: 403 }, fields, id);
      }
      try {
        const outcome = await run(fields, id);
        return outcome instanceof Response ? outcome : c.redirect(next.replace(':id', id), 303);
      } catch (error) {
        if (!(error instanceof SandboxError)) throw error;
        const status = error.code === 'unknown_id' ? 404 : 409;
        return show({ problem: error.message, status }, fields, id);
      }
    });
  }

  action('/balance', overview, '/', (fields) => {
    const amount = (fields.amount ?? '').trim();
    if (fields.do === 'freeze') sandbox.freeze(amount);
    else if (fields.do === 'release') sandbox.release(amount);
    else sandbox.settle();
  });
  action('/clock', overview, '/', ({ by }) => sandbox.advanceTime(by === '1d' ? '1d' : '1h'));
  action('/reset', overview, '/', () => sandbox.reset());
  action('/products/:id', products, '/products', (fields, id) => {
    if (fields.do === 'restore') sandbox.restoreProduct(id);
    else sandbox.archiveProduct(id);
  });
  action('/faults/clear', requests, '/requests', () => sandbox.clearFaults());
  action('/checkouts/:id', checkouts, '/checkouts', (fields, id) => {
    if (fields.do === 'pay') payments.pay(id, 'card');
    else if (fields.do === 'expire') payments.expire(id);
    else payments.decline(id, 'card_declined');
  });
  action('/events/deliver', events, '/events', () => sandbox.deliver());
  action('/events/:id/redeliver', event, '/events/:id', (_, id) => sandbox.redeliver(id));
  action('/developer/key', developer, '/developer?show=key', () => sandbox.regenerateKey());
  action('/developer/webhook', developer, '/developer#webhook', async ({ url = '' }) => {
    const target = url.trim() || undefined;
    const problem = await resolvedProblem(target, context.settings.allowRemoteWebhooks);
    if (problem !== undefined) throw new SandboxError('invalid_options', `webhook: ${problem}`);
    sandbox.setWebhook(target);
  });
  action('/developer/test-event', developer, '', async (fields) => {
    const { event } = await sandbox.trigger(checked(eventType, fields.type, 'type'));
    return new Response(null, { status: 303, headers: { location: `/events/${event.id}` } });
  });
  action('/developer/doctor', developer, '', async () => diagnosisPage(context, await sandbox.doctor()));

  return pages;
}

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
