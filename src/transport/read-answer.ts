import * as z from 'zod/mini';
import { describeIssues } from '../schemas/issues.js';
import { idProblem } from '../schemas/params.js';
import { openEnvelope, snippetOf } from './envelope.js';
import type { Answer } from './exchange.js';
import { type CallDescription, type Failure, refusal, unusable } from './failures.js';

/** What an answer holds: the data that the schema makes of it, or why there is none. */
export function readAnswer<T>(
  call: CallDescription,
  answer: Answer,
  schema: z.ZodMiniType<T>,
): { data: T } | Failure {
  const { status } = answer;
  if (status >= 300 && status < 400) {
    return unusable(
      call,
      answer,
      'redirect',
      `it redirects${redirectTarget(call, answer)}, and redirects are not followed, to keep the API key. Check baseUrl`,
    );
  }
  const envelope = openEnvelope(answer);
  if (!isSuccess(status)) {
    const { code, message } =
      envelope.kind === 'refusal' ? envelope : { code: undefined, message: undefined };
    return refusal(call, answer, { code, message, snippet: snippetOf(answer.body) });
  }
  if (envelope.kind === 'refusal')
    return refusal(call, answer, { ...envelope, snippet: snippetOf(answer.body) });
  if (envelope.kind === 'unusable') {
    const mayBeCut = envelope.reason === 'json' && !answer.delimited;
    return unusable(call, answer, envelope.reason, envelope.problem, {
      retriable: mayBeCut ? 'reads' : 'never',
    });
  }
  const parsed = z.safeParse(schema, envelope.data);
  if (parsed.success) return { data: parsed.data };
  if (envelope.data === undefined || envelope.data === null)
    return unusable(call, answer, 'envelope', 'it has no data');
  const issues = describeIssues(parsed.error.issues);
  const shown = issues.slice(0, 5).map(({ path, message }) => `${path || 'data'}: ${message}`);
  const problem = shown.join('; ') + (issues.length > 5 ? `; and ${issues.length - 5} more` : '');
  return unusable(call, answer, 'schema', problem, { issues, id: idOf(envelope.data) });
}

export function isSuccess(status: number): boolean {
  return status >= 200 && status < 300;
}

/** The other host, which is all of a Location that is safe to print. */
function redirectTarget(call: CallDescription, answer: Answer): string {
  const location = answer.header('location');
  const base = `https://${call.host}`;
  if (location === null || !URL.canParse(location, base)) return '';
  const { host, protocol } = new URL(location, base);
  return ` to ${call.redact(host || protocol)}`;
}

/** The id in data that is otherwise unusable; text that could not be an id is none. */
function idOf(data: unknown): string | undefined {
  const id: unknown = typeof data === 'object' && data !== null && 'id' in data ? data.id : undefined;
  return typeof id === 'string' && idProblem(id) === undefined ? id : undefined;
}
