// A receiver over HTTP, right or with one planted fault: `node receiver.mjs <fault>`. Prints its port.
import { createHmac } from 'node:crypto';
import { createServer } from 'node:http';
import { Rejected, verify } from '../../conformance/verifiers/verify.mjs';

const scheme = {
  algorithm: 'sha256',
  encoding: 'hex',
  prefix: '',
  content: '{timestamp}.{body}',
  timestamp: 'auto',
  secretEncoding: 'utf8',
  signatureHeader: 'x-service-signature',
  timestampHeader: 'x-service-timestamp',
};

/** The difference of each receiver from the right one. */
const faults = {
  none: verify,
  'accepts the beginning of a signature': (delivery) =>
    verify({ ...delivery, headers: delivery.headers.map(completeSignature(delivery)) }),
  'decodes the body before the MAC': (delivery) =>
    verify({ ...delivery, body: Buffer.from(delivery.body.toString()) }),
  'does not look at the timestamp’s age': (delivery) => verify({ ...delivery, toleranceSeconds: Infinity }),
};

/** Compares only as many characters as the given signature has, and never looks at the rest. */
function completeSignature({ body, headers, secrets: [secret] }) {
  return ([name, value]) => {
    const timestamp = headers.find(([each]) => each === scheme.timestampHeader)?.[1];
    const signed = Buffer.concat([Buffer.from(`${timestamp}.`), body]);
    const mac = createHmac('sha256', secret).update(signed).digest('hex');
    return [name, name === scheme.signatureHeader && mac.startsWith(value) ? mac : value];
  };
}

const [fault = 'none'] = process.argv.slice(2);
const receive = faults[fault];
if (!receive) throw new Error(`No fault "${fault}". There are: ${Object.keys(faults).join('; ')}.`);

const server = createServer(async (request, response) => {
  const raw = request.rawHeaders;
  const headers = raw.flatMap((name, index) =>
    index % 2 === 0 ? [[name.toLowerCase(), raw[index + 1] ?? '']] : [],
  );
  const body = Buffer.concat(await request.toArray());
  const secrets = [process.env.WEBHOOK_SECRET];
  try {
    receive({ body, headers, secrets, now: Date.now() / 1000, toleranceSeconds: 300, scheme });
    response.statusCode = 200;
  } catch (error) {
    response.statusCode = error instanceof Rejected && error.kind === 'verification' ? 400 : 500;
  }
  response.end();
});
server.listen(0, '127.0.0.1', () => console.log(server.address().port));
