import { SandboxError, shown } from '../sandbox-error.js';
import type { Refusal, RequestNotes } from './notes.js';

/** The success envelope. */
export const success = (notes: RequestNotes, data: unknown): Response =>
  json(notes, 200, { code: 0, message: 'success', data });

/** The one error whose body the spec shows. */
export const unauthorized = (notes: RequestNotes): Response =>
  json(notes, 401, { code: 401, message: 'Unauthorized' });

/** Every other error, as chosen. */
export function refused({ kind, message, headers }: Refusal, notes: RequestNotes): Response {
  const { choices } = notes;
  notes.mark('errors', 'errorStatus');
  if (choices.errors !== 'envelope') {
    const response: unknown = choices.errors(kind, message);
    if (response instanceof Response) return response;
    const problem = `unspecified.errors returned ${shown(response)} for "${kind}". Return a Response.`;
    throw new SandboxError('invalid_options', problem);
  }
  const status = choices.statusOf(kind);
  return json(notes, status, { code: status, message }, headers);
}

function json(notes: RequestNotes, status: number, body: unknown, headers: Record<string, string> = {}) {
  const text = JSON.stringify(body);
  notes.responseBody = text;
  return new Response(text, { status, headers: { 'content-type': 'application/json', ...headers } });
}
