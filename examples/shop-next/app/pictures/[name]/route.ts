import { pictures } from '../../../../shop/pictures.ts';

export async function GET(_request: Request, { params }: { params: Promise<{ name: string }> }) {
  const picture = pictures.get((await params).name);
  if (!picture) return new Response('Not found', { status: 404 });
  return new Response(picture, { headers: { 'content-type': 'image/svg+xml' } });
}
