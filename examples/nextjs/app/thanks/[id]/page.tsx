import { notFound } from 'next/navigation';
import { book, findOrder } from '../../../lib/orders.ts';

/** Shows what the database says. Coming here proves nothing. */
export default async function Thanks({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  const order = findOrder(id);
  if (!order) notFound();
  await book.returned(id);
  return <p>{order.isPaid ? 'Paid. Thank you!' : 'We are confirming your payment. Please reload.'}</p>;
}
