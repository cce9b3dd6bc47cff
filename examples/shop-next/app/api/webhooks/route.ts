import { orders } from '../../../lib/shop';

export const POST = orders.inbox.handler;
