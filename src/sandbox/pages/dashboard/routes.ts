// The dashboard shows what happened in the sandbox, and has buttons that make things happen.
import { Hono } from 'hono/tiny';
import * as z from 'zod/mini';
import { issuesInWords } from '../../../input/read.js';
import { InvalidOptions, readOptions, SandboxError } from '../../checks.js';
import type { SandboxContext } from '../../context.js';
import { outOfDate, readForm } from '../../http/input.js';
import { eventType } from '../../service/event.js';
import { checkResolved } from '../../settings.js';
import { developerPage, doctorPage } from './developer.js';
import { eventPage } from './event.js';
import { checkoutsPage, eventsPage, productsPage, requestsPage } from './lists.js';
import { overviewPage } from './overview.js';

const pages = {
  '/': overviewPage,
  '/products': productsPage,
  '/checkouts': checkoutsPage,
  '/events': eventsPage,
  '/events/:id': eventPage,
  '/requests': requestsPage,
  '/developer': developerPage,
  '/developer/doctor': doctorPage,
};

const testEventForm = z.object({ type: eventType });

type Fields = Readonly<Record<string, string>>;

const goTo = (location: string) => new Response(null, { status: 303, headers: { location } });

/** Serves the dashboard, which shows everything that happened in the sandbox and has buttons to make things happen. */
export function dashboardPages(context: SandboxContext): Hono {
  const { sandbox, guard, payments } = context;
  const routes = new Hono();
  for (const [path, show] of Object.entries(pages))
    routes.get(path, (c) => show(context, { id: c.req.param('id') }));

  /** Does what a form asks for and redirects to its page, unless the result is a response. The page shows a refusal. */
  function action(path: string, page: keyof typeof pages, run: (fields: Fields, id: string) => unknown) {
    routes.post(path, async (c) => {
      const fields = await readForm(c.req.raw);
      const id = c.req.param('id') ?? '';
      const { url } = fields;
      const refuse = (status: number, problem: string) => pages[page](context, { id, url, problem, status });
      if (!guard.checkToken('dashboard', fields.token)) return refuse(403, outOfDate);
      try {
        const outcome = await run(fields, id);
        return outcome instanceof Response ? outcome : goTo(page.replace(':id', id));
      } catch (error) {
        if (!(error instanceof SandboxError)) throw error;
        const issues = InvalidOptions.issuesOf(error);
        const problem = issues ? issuesInWords(issues, 'The form') : error.message;
        return refuse(error.code === 'unknown_id' ? 404 : 409, problem);
      }
    });
  }

  action('/balance', '/', () => sandbox.settle());
  action('/clock', '/', ({ by }) => sandbox.advanceTime(by === '1d' ? '1d' : '1h'));
  action('/reset', '/', () => sandbox.reset());
  action('/products/:id', '/products', (fields, id) =>
    payments.setStatus(id, fields.do === 'restore' ? 'ACTIVE' : 'ARCHIVED'),
  );
  action('/faults/clear', '/requests', () => sandbox.clearFaults());
  action('/checkouts/:id', '/checkouts', (fields, id) => {
    if (fields.do === 'pay') payments.pay(id, 'card');
    else if (fields.do === 'expire') payments.expire(id);
    else payments.decline(id, 'card_declined');
  });
  action('/events/deliver', '/events', () => sandbox.deliver());
  action('/events/:id/redeliver', '/events/:id', (_, id) => sandbox.redeliver(id));
  action('/developer/key', '/developer', () => sandbox.regenerateKey());
  action('/developer/webhook', '/developer', async ({ url = '' }) => {
    const target = url.trim() || undefined;
    await checkResolved(context.settings, target);
    sandbox.setWebhook(target);
    return goTo('/developer#webhook');
  });
  action('/developer/test-event', '/developer', async (fields) => {
    const { type } = readOptions('trigger', testEventForm, fields);
    const { event } = await sandbox.trigger(type);
    return goTo(`/events/${event.id}`);
  });
  action('/developer/doctor', '/developer/doctor', async () => void (await sandbox.doctor()));

  return routes;
}
