import balance from '../fixtures/balance.json' with { type: 'json' };
import product from '../fixtures/product-created.json' with { type: 'json' };
import { answer, type Behaviour } from './faulty-server.js';

/** The right answer to whatever was asked, as the spec shows it. */
export function rightBody(method: string): string {
  return JSON.stringify(method === 'GET' ? balance : product);
}

/** Answers as the spec says. */
export const succeeds: Behaviour = (socket, { method }) => {
  socket.write(answer(200, rightBody(method)));
};

/** Misbehaves for the first requests, and succeeds from then on. */
export function failsFirst(count: number, fault: Behaviour): Behaviour {
  return (socket, request) => (request.number <= count ? fault : succeeds)(socket, request);
}
