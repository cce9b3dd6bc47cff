/** The version of this package; `npm run release` writes it. */
export const version = '0.1.0';
