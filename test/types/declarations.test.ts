import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import ts from 'typescript';
import { afterEach, expect, test } from 'vitest';

const folder = 'node_modules/.declarations';
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const library = `import type { AnyPaymentsError } from 'merchant-payments';

export const ofInbox = (error: AnyPaymentsError) =>
  error.code === 'inbox_busy' || error.code === 'inbox_commit' ? error : undefined;
`;

test('a library with declarations of its own can return an error of the inbox', () => {
  mkdirSync(folder, { recursive: true });
  const file = `${folder}/library.ts`;
  writeFileSync(file, library);
  const { config } = ts.readConfigFile('tsconfig.json', ts.sys.readFile);
  const parsed = ts.parseJsonConfigFileContent({ ...config, include: [], files: [] }, ts.sys, process.cwd());
  const program = ts.createProgram([file], { ...parsed.options, declaration: true });
  const source = program.getSourceFile(file);
  const found = [...program.getSemanticDiagnostics(source), ...program.getDeclarationDiagnostics(source)];
  expect(found.map(({ messageText }) => ts.flattenDiagnosticMessageText(messageText, '\n'))).toEqual([]);
});
