import { isPaid } from '../../../lib/orders.ts';

/** Shows what the database says. Coming here proves nothing. */
export default async function Thanks({ params }: { params: Promise<{ id: string }> }) {
  const { id } = await params;
  return <p>{isPaid(id) ? 'Paid. Thank you!' : 'We are confirming your payment. Please reload.'}</p>;
}
