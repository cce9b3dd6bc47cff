import type { Choices } from '../service/unspecified.js';
import type { Exchange, Refusal } from './exchange.js';
import { excerptLength } from './log.js';

/** The text of each answer, so that the socket's side need not read it back from a stream. */
export const texts = new WeakMap<Response, string>();

/** The success envelope. */
export const success = (exchange: Exchange, data: unknown): Response =>
  json(exchange, 200, { code: 0, message: 'success', data });

/** The one error whose body the spec shows. */
export const unauthorized = (exchange: Exchange): Response =>
  json(exchange, 401, { code: 401, message: 'Unauthorized' });

/** Every other error, as chosen. */
export function refused(refusal: Refusal, exchange: Exchange, choices: Choices): Response {
  const { kind, message, headers } = refusal;
  exchange.mark('errors', 'errorStatus');
  if (choices.errors !== 'envelope') return choices.errors(kind, message);
  const status = choices.errorStatus[kind];
  return json(exchange, status, { code: status, message }, headers);
}

function json(
  exchange: Exchange,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
): Response {
  const text = JSON.stringify(body);
  exchange.responseBody = text.slice(0, excerptLength);
  const response = new Response(text, {
    status,
    headers: { 'content-type': 'application/json', ...headers },
  });
  texts.set(response, text);
  return response;
}
