/** The version of this package, written by `npm run release`. */
export const version = '0.1.0';
