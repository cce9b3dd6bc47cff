// Deviations of published verifiers from the corpus, and their reasons, as read in their published code.

/** By package, then by case. */
export const deviations = {
  stripe: {
    'body-bom-added':
      'The body is decoded to text before the MAC, and the decoder drops a byte order mark. The event stays the same; bytes that were not signed are accepted.',
    'body-ff-for-fffd':
      'The body is decoded to text before the MAC, so an invalid byte and a signed U+FFFD are one and the same.',
    'sig-empty':
      'An empty `v1=` ends in a bare `Error`. It is refused, though not with the error class that a handler looks for.',
    'sig-fullwidth':
      'The length is compared in characters, then `timingSafeEqual` throws a `RangeError` for the bytes. It is refused, though not with the error class that a handler looks for.',
    'ts-nan':
      'A timestamp that is not a number passes the check of its age. Only somebody who holds the secret can sign one.',
  },
  standardwebhooks: {
    'body-ff-for-fffd':
      'The body is decoded to text before the MAC, so an invalid byte and a signed U+FFFD are one and the same.',
  },
  svix: {
    'body-ff-for-fffd':
      'The body is decoded to text before the MAC, so an invalid byte and a signed U+FFFD are one and the same.',
  },
  '@octokit/webhooks-methods': {
    'body-ff-for-fffd':
      '`verify()` takes text only, so the caller has to decode the body: an invalid byte and a signed U+FFFD become one and the same.',
  },
};
