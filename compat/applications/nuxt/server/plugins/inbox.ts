import '../utils/inbox.ts';

export default defineNitroPlugin(() => {});
