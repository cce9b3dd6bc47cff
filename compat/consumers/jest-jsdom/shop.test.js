/** @jest-environment jsdom */
// Jest with jsdom has neither `fetch` nor `TextDecoder`: everything loads, webhooks are verified, and the client says where
// its tests belong.

test.each(['', '/webhooks', '/inbox', '/matching', '/sandbox'])('merchant-payments%s loads', (entry) => {
  expect(Object.keys(require(`merchant-payments${entry}`)).length).toBeGreaterThan(0);
});

test.each([false, true])('a client names jsdom and the way out (dangerouslyAllowBrowser: %s)', (allowed) => {
  const { ConfigurationError, PaymentsClient } = require('merchant-payments');
  const options = { apiKey: 'key', baseUrl: 'https://api.example', dangerouslyAllowBrowser: allowed };
  const make = () => new PaymentsClient(options);
  expect(make).toThrow(ConfigurationError);
  expect(make).toThrow('this is jsdom: run these tests in the node environment');
});

test('a delivery is verified', () => {
  const { sign, verify } = require('merchant-payments/webhooks');
  const secret = 'whsec_example';
  const rawBody = '{"type":"order.paid","data":{"order_id":"ord_1","amount":"19.90","currency":"USD"}}';
  const event = verify({ rawBody, headers: sign({ rawBody, secret }), secret });
  expect(event).toMatchObject({ type: 'order.paid', data: { order_id: 'ord_1' } });
});
