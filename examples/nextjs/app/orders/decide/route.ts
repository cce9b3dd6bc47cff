import { decide, isOrdersKey } from '../../../lib/held.ts';

/** A person says which order a held payment was for. */
export async function POST(request: Request): Promise<Response> {
  const form = new URLSearchParams(await request.text());
  const given = (name: string) => form.get(name) ?? '';
  const key = given('key');
  if (!isOrdersKey(key)) return new Response('Not found', { status: 404 });
  decide(given('payment'), given('order'));
  return new Response(null, {
    status: 303,
    headers: { location: `/orders?${new URLSearchParams({ key })}` },
  });
}
