import ky, { type Input, type Options } from '../../../node_modules/ky/distribution/index.js';

export * from '../../../node_modules/ky/distribution/index.js';

/** Makes each request as ky does, and returns another response than the one that came. */
export default {
  create(defaults: Options) {
    const client = ky.create(defaults);
    return async (url: Input, options: Options) => {
      await client(url, options);
      return Object.assign(new Response(null, { status: 418 }), { bytes: async () => new Uint8Array() });
    };
  },
};
