// The loopback server: bare TCP with just enough HTTP/1.1, every answer built once. It answers about 100,000 requests
// a second on one core, so that no client measured here waits for it.
//
//   node lib/server.mjs [latencyMs]     prints its port; ends when its standard input does
import net from 'node:net';
import { answerTo } from './answers.mjs';

const latencyMs = Number(process.argv[2] ?? 0);
const endOfHead = '\r\n\r\n';
const answers = new Map();

const server = net.createServer({ noDelay: true }, (socket) => {
  let rest = '';
  socket.on('error', () => {});
  socket.on('data', (chunk) => {
    const received = rest + chunk.latin1Slice();
    const { requests, read } = requestsIn(received);
    rest = received.slice(read);
    if (requests.length === 0) return;
    const bytes = requests.length === 1 ? answer(requests[0]) : Buffer.concat(requests.map(answer));
    if (latencyMs > 0) setTimeout(() => socket.write(bytes), latencyMs);
    else socket.write(bytes);
  });
});

server.listen(0, '127.0.0.1', () => console.log(server.address().port));
process.stdin.on('end', () => process.exit()).resume();

/** The whole requests that a text holds, each as `METHOD target`, and where the last of them ends. */
function requestsIn(text) {
  const requests = [];
  let read = 0;
  for (;;) {
    const bodyAt = text.indexOf(endOfHead, read) + endOfHead.length;
    if (bodyAt < endOfHead.length) break;
    const end = bodyAt + bodyLength(text.slice(read, bodyAt));
    if (end > text.length) break;
    requests.push(text.slice(read, text.indexOf(' HTTP/1.1', read)));
    read = end;
  }
  return { requests, read };
}

function bodyLength(head) {
  if (head.startsWith('GET ')) return 0;
  const length = /\r\ncontent-length: *(\d+)/i.exec(head);
  if (!length) throw new Error('A request with a body came without a content-length.');
  return Number(length[1]);
}

function answer(request) {
  const known = answers.get(request);
  if (known) return known;
  const [method, target] = request.split(' ');
  const json = answerTo(method, target, `http://127.0.0.1:${server.address().port}`);
  const body = Buffer.from(JSON.stringify(json ?? { code: 404, message: `no answer to ${request}` }));
  const head = [
    `HTTP/1.1 ${json ? '200 OK' : '404 Not Found'}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${body.length}`,
    'date: Thu, 01 Jan 2026 00:00:00 GMT',
    'x-request-id: req_01JH8ZQ4X9VT3M5B7N2C',
    'cache-control: no-store',
    'vary: accept-encoding',
    'server: bench',
    'connection: keep-alive',
  ];
  const bytes = Buffer.concat([Buffer.from(head.join('\r\n') + endOfHead), body]);
  answers.set(request, bytes);
  return bytes;
}
