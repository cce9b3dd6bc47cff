import net from 'node:net';

/**
 * Keeps 32 connections busy with one request each, over bare sockets, so that the load costs less than any server.
 * Answers are counted by their length, which is the same for all.
 */
export async function load({ port, apiKey, path, body, seconds }) {
  const head = [
    `${body === undefined ? 'GET' : 'POST'} ${path} HTTP/1.1`,
    `host: 127.0.0.1:${port}`,
    `x-api-key: ${apiKey}`,
    ...(body === undefined ? [] : ['content-type: application/json', `content-length: ${body.length}`]),
  ];
  const request = `${head.join('\r\n')}\r\n\r\n${body ?? ''}`;
  const size = await answerSize(port, request);
  const begun = performance.now();
  const until = begun + seconds * 1000;
  const counts = await Promise.all(Array.from({ length: 32 }, () => connection(port, request, size, until)));
  const requests = counts.reduce((sum, count) => sum + count, 0);
  return { requests, perSecond: requests / ((performance.now() - begun) / 1000) };
}

function connection(port, request, size, until) {
  return new Promise((resolve, reject) => {
    let [received, done] = [0, 0];
    const socket = net.connect({ port, host: '127.0.0.1', noDelay: true }, () => socket.write(request));
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      received += chunk.length;
      if (received < size) return;
      received -= size;
      done++;
      if (performance.now() < until) socket.write(request);
      else {
        socket.destroy();
        resolve(done);
      }
    });
  });
}

function answerSize(port, request) {
  return new Promise((resolve, reject) => {
    let text = '';
    const socket = net.connect(port, '127.0.0.1', () => socket.write(request));
    socket.on('error', reject);
    socket.on('data', (chunk) => {
      text += chunk.latin1Slice();
      const headEnd = text.indexOf('\r\n\r\n') + 4;
      const length = /\r\ncontent-length: *(\d+)/i.exec(text.slice(0, headEnd));
      if (headEnd < 4 || !length || text.length < headEnd + Number(length[1])) return;
      socket.destroy();
      if (text.startsWith('HTTP/1.1 200')) resolve(headEnd + Number(length[1]));
      else reject(new Error(text.slice(0, 300)));
    });
  });
}
