import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import ts from 'typescript';
import { afterEach, expect, test } from 'vitest';

const script = '../../scripts/prose-code.mjs';
const { proseProgram }: { proseProgram: (text: string) => string } = await import(script);
const folder = 'node_modules/.prose-code';
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const page = `# A page

\`error.outcome\` and \`error.toJSON()\` are everywhere; \`error.requestId\` is not.

| class | facts |
|---|---|
| \`ConnectionError\` | \`phase\`, \`scope\` |
| \`TimeoutError\` | \`scope\` is \`attempt\` or \`total\` |

An \`ApiError\` has a
\`requestId\`, and so has an \`InvalidResponseError\`; neither has \`phase\`.

\`\`\`ts
throw new Error('unread'); // respond with error.httpStatus

// respond with error.httpStatus of a WebhookPayloadError
\`\`\`

Call \`inbox.drain({ forMs: '20s' })\` or \`inbox.drain({ forMs: 'soon' })\`, and \`inbox.count()\`. There is no \`RefundError\`, so no \`error.issues\` of it.
`;

test('a fact that no error has there, and a call that does not compile, are found on their lines', () => {
  expect(problems(page)).toEqual([
    "3: Property 'requestId' does not exist on type 'AnyPaymentsError'.",
    "7: Property 'scope' does not exist on type 'ConnectionError'.",
    expect.stringMatching(/^11: Property 'phase' does not exist on type 'AnyOf<.*>'/),
    "14: Property 'httpStatus' does not exist on type 'AnyPaymentsError'.",
    expect.stringMatching(/^19: Type '"soon"' is not assignable/),
    "19: Property 'count' does not exist on type 'Inbox'.",
    expect.stringMatching(/^19: .* has no exported member 'RefundError'/),
  ]);
});

function problems(text: string): string[] {
  mkdirSync(folder, { recursive: true });
  writeFileSync(`${folder}/page.ts`, proseProgram(text));
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
  const { options } = ts.parseJsonConfigFileContent(
    { ...config, include: [], files: [] },
    ts.sys,
    process.cwd(),
  );
  const program = ts.createProgram([`${folder}/page.ts`], { ...options, noUnusedParameters: false });
  return program.getSemanticDiagnostics(program.getSourceFile(`${folder}/page.ts`)).map((found) => {
    const line = found.file?.getLineAndCharacterOfPosition(found.start ?? 0).line ?? 0;
    const message = ts.flattenDiagnosticMessageText(found.messageText, '\n').split('\n')[0];
    return `${line + 1}: ${message}`;
  });
}
