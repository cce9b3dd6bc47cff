// Compares what a verifier or receiver did with what a case expects.

/** @typedef {{ result: 'accepted' | 'rejected' | 'crashed', kind?: string, event?: unknown, note?: string }} Outcome */

/** Returns the deviation in words, or `undefined`. A kind and an event are compared if the outcome tells them. */
export function deviation(one, { result, kind, event, note }) {
  const why = note ? ` (${note})` : '';
  const expected = one.expect === 'accept' ? 'accepted' : 'rejected';
  if (result === 'crashed') return `must be ${expected}, but it failed in an undeclared way${why}`;
  if (result !== expected) return `must be ${expected}, but was ${result}${why}`;
  if (one.kind && kind && kind !== one.kind) return `was rejected as ${kind}, but it is ${one.kind}${why}`;
  if (one.value && event !== undefined && !holds(event, one.value)) {
    return `the event must hold ${JSON.stringify(one.value)}, but is ${JSON.stringify(event)}`;
  }
  return undefined;
}

/** Every field of `wanted` is in `value`, at any depth. */
function holds(value, wanted) {
  if (typeof wanted !== 'object' || wanted === null) return Object.is(value, wanted);
  return (
    typeof value === 'object' &&
    value !== null &&
    Object.entries(wanted).every(([name, each]) => Object.hasOwn(value, name) && holds(value[name], each))
  );
}
