import { inbox } from './lib/server/inbox.ts';

process.on('sveltekit:shutdown', () => inbox.close());
