// The lines of docs/places.md, with the adapters that exist outside of the places themselves.
import { test } from 'node:test';
import azure from '@azure/functions';
import { http } from '@google-cloud/functions-framework';
import { getTestServer } from '@google-cloud/functions-framework/testing';
import express from 'express';
import serverless from 'serverless-http';
import { newFetchReceiver, newNodeReceiver, receives, receivesAt } from '../lib/deliveries.js';

/** An event of API Gateway, of payload format 2.0 as a function URL has it too: names as they were sent, base64 for binary types. */
function lambdaEvent({ method = '', headers, body }: RequestInit, isBase64Encoded: boolean) {
  const text = String(body);
  return {
    version: '2.0',
    rawPath: '/webhooks',
    rawQueryString: '',
    headers: Object.fromEntries(
      Object.entries(headers ?? {}).map(([name, value]) => [name.toUpperCase(), `${value}`]),
    ),
    requestContext: { http: { method, path: '/webhooks', sourceIp: '127.0.0.1' } },
    body: isBase64Encoded ? Buffer.from(text).toString('base64') : text,
    isBase64Encoded,
  };
}

for (const isBase64 of [false, true]) {
  test(`AWS Lambda behind API Gateway, with${isBase64 ? '' : 'out'} base64`, async () => {
    const receive = newFetchReceiver();
    const handler = async (event: ReturnType<typeof lambdaEvent>) => {
      const body = Buffer.from(event.body, event.isBase64Encoded ? 'base64' : 'utf8');
      const request = new Request('https://lambda.example', { method: 'POST', headers: event.headers, body });
      const response = await receive(request);
      return { statusCode: response.status, body: await response.text() };
    };
    await receivesAt(async (init) => ({ status: (await handler(lambdaEvent(init, isBase64))).statusCode }));
  });

  test(`serverless-http around Express on Lambda, with${isBase64 ? '' : 'out'} base64`, async () => {
    const app = express();
    app.post('/webhooks', newNodeReceiver());
    const handler = serverless(app);
    await receivesAt(async (init) => {
      const response: { statusCode?: number } = await handler(lambdaEvent(init, isBase64), {});
      return { status: response.statusCode ?? 0 };
    });
  });
}

test('Netlify, Vercel, Cloudflare, Deno: a function that takes a Request', async () => {
  const receive = newFetchReceiver();
  await receivesAt((init) => receive(new Request('https://shop.example/webhooks', init)));
});

test('Azure Functions', async () => {
  const receive = newFetchReceiver();
  const webhooks = async (request: azure.HttpRequest) => {
    const { url, method, headers } = request;
    const body = await request.arrayBuffer();
    const response = await receive(new Request(url, { method, headers: [...headers], body }));
    return { status: response.status, body: await response.text() };
  };
  await receivesAt((init) =>
    webhooks(
      new azure.HttpRequest({
        url: 'https://shop.example/api/webhooks',
        method: 'POST',
        headers: Object.fromEntries(Object.entries(init.headers ?? {})),
        body: { string: String(init.body) },
      }),
    ),
  );
});

test('Google Cloud Functions, whose framework has parsed the body and kept its bytes', async () => {
  http('webhooks', newNodeReceiver());
  await receives(getTestServer('webhooks'), '/');
});
