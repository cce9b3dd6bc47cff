import { readFileSync } from 'node:fs';
import { parseObject } from '../doctor/json.js';
import { schemeProblem } from '../sandbox/service/choices.js';
import type { SignatureScheme } from '../webhooks/index.js';
import type { Flag } from './command.js';
import { refuseUnless } from './terminal.js';

export const schemeFlag: Flag = [
  '<json or file>',
  'how to sign: JSON such as {"encoding":"base64"}, or a file written by `identify --json`',
];

/** Reads a signature scheme from JSON, or from a file that holds one or the output of `identify --json`. */
export function readSchemeFlag(text: string | undefined): Partial<SignatureScheme> | undefined {
  if (text === undefined) return undefined;
  const given = parseObject(/^\s*\{/.test(text) ? text : contentOf(text));
  refuseUnless(
    given,
    `--scheme: ${JSON.stringify(text)} is neither a JSON object such as {"encoding":"base64"} nor a file with one.`,
  );
  const scheme = 'found' in given ? given.scheme : given;
  refuseUnless(
    typeof scheme === 'object' && scheme !== null,
    '--scheme: `identify` found no scheme in that delivery, so there is nothing to sign with.',
  );
  const problem = schemeProblem(scheme);
  refuseUnless(problem === undefined, `--scheme: ${problem}`);
  return { ...scheme };
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch {
    return '';
  }
}
