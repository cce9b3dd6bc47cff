import { inbox } from '../../lib/inbox.ts';

export const POST = inbox.handler;
