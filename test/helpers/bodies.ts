import balance from '../fixtures/balance.json' with { type: 'json' };
import product from '../fixtures/product-created.json' with { type: 'json' };
import { type Behaviour, rawResponse } from './faulty-server.js';

/** The correct response to any request, as the spec shows it. */
export function rightBody(method: string): string {
  return JSON.stringify(method === 'GET' ? balance : product);
}

/** Responds as the spec says. */
export const succeed: Behaviour = (socket, { method }) => {
  socket.write(rawResponse(200, rightBody(method)));
};

/** Misbehaves for the first requests, and succeeds from then on. */
export function failFirst(count: number, fault: Behaviour): Behaviour {
  return (socket, request) => (request.number <= count ? fault : succeed)(socket, request);
}
