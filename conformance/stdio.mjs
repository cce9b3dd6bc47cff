// Asks a verifier in any language: one JSON object a line to its standard input, one a line back. README.md, "Protocol".
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { bytesOf, cases, defaults, textOf } from './corpus.mjs';
import { makeDelivery } from './make.mjs';
import { inapplicable, merchantPayments, tooNear } from './schemes.mjs';

const limitMs = 15_000;

export async function* examineVerifier([command, ...args], { secret, scheme }) {
  const child = spawn(command, args, { stdio: ['pipe', 'pipe', 'inherit'] });
  const ended = new Promise((_, reject) => {
    child.on('error', (error) => reject(new Error(`The verifier did not start: ${error.message}`)));
    child.on('close', (code) =>
      reject(new Error(`The verifier ended with code ${code} before it answered.`)),
    );
  });
  ended.catch(() => {});
  child.stdin.on('error', () => {}); // `ended` tells
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  try {
    for (const one of cases) {
      const skipped = scheme === merchantPayments ? undefined : (inapplicable(one, scheme) ?? tooNear(one));
      if (skipped) {
        yield { one, skipped };
        continue;
      }
      const question = scheme === merchantPayments ? asWritten(one) : madeFor(scheme, one, secret);
      child.stdin.write(`${JSON.stringify({ id: one.id, ...question })}\n`);
      const { value, done } = await Promise.race([lines.next(), ended, late(one)]);
      yield { one, outcome: outcomeOf(one, done ? await ended : value) };
    }
  } finally {
    child.stdin.end();
    child.kill();
  }
}

/** With the very bytes, signature and clock of cases.json. */
export function asWritten(one) {
  return {
    body: bytesOf(one.body).toString('base64'),
    headers: one.headers.map(([name, value]) => [name, textOf(value)]),
    secrets: [one.secret].flat(),
    now: one.clock,
    toleranceSeconds: one.toleranceSeconds ?? defaults.toleranceSeconds,
    scheme: { ...defaults.scheme, ...one.scheme },
  };
}

/** Signed anew, with the present as clock: few verifiers take one. */
function madeFor(scheme, one, secret) {
  const now = Math.floor(Date.now() / 1000);
  const { body, headers } = makeDelivery(one, { secret, now, scheme });
  const { secretPrefix } = scheme;
  const written = secretPrefix ? secretPrefix + Buffer.from(secret).toString('base64') : secret;
  return { body: body.toString('base64'), headers, secrets: [written], now, toleranceSeconds: 300 };
}

function outcomeOf(one, line) {
  let outcome;
  try {
    outcome = JSON.parse(line);
  } catch {
    // Such as the `Infinity` of Python's json.dumps: it costs this case only.
    return { result: 'crashed', note: `it answered with a line that is no JSON: ${line.slice(0, 200)}` };
  }
  if (outcome.id !== one.id) throw new Error(`The verifier answered ${outcome.id} when asked for ${one.id}.`);
  if (!['accepted', 'rejected', 'crashed'].includes(outcome.result)) {
    throw new Error(`The verifier answered ${one.id} with the result ${JSON.stringify(outcome.result)}.`);
  }
  return outcome;
}

function late({ id }) {
  return new Promise((_, reject) => {
    const message = `The verifier did not answer ${id} in ${limitMs / 1000} s.`;
    setTimeout(() => reject(new Error(message)), limitMs).unref();
  });
}
