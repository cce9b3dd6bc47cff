import { decide, isOrdersKey } from '../../../lib/held.ts';

/** A person says which order a held payment was for. */
export async function POST(request: Request): Promise<Response> {
  const key = new URL(request.url).searchParams.get('key') ?? '';
  if (!isOrdersKey(key)) return new Response('Not found', { status: 404 }); // before the body, which has no limit
  const form = new URLSearchParams(await request.text());
  if (!decide(form.get('payment') ?? '', form.get('order') ?? ''))
    return new Response('Nothing was changed. Look at the orders again.', { status: 409 });
  return new Response(null, {
    status: 303,
    headers: { location: `/orders?${new URLSearchParams({ key })}` },
  });
}
