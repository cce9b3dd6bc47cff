// Holds the public types to api/*.api.md, so that a change of them shows in review; `-- --write` takes the change over.
import { resolve } from 'node:path';
import { Extractor, ExtractorConfig } from '@microsoft/api-extractor';

const write = process.argv.includes('--write');
const folder = resolve('.');
let changed = false;

for (const entry of ['index', 'webhooks', 'inbox', 'matching', 'sandbox']) {
  const config = ExtractorConfig.prepare({
    packageJsonFullPath: resolve('package.json'),
    configObjectFullPath: undefined,
    configObject: {
      projectFolder: folder,
      mainEntryPointFilePath: resolve(`dist/${entry}.d.ts`),
      newlineKind: 'lf',
      compiler: { tsconfigFilePath: resolve('tsconfig.json') },
      apiReport: {
        enabled: true,
        reportFileName: entry,
        reportFolder: resolve('api'),
        reportTempFolder: resolve('node_modules/.cache/api'),
      },
      docModel: { enabled: false },
      dtsRollup: { enabled: false },
      tsdocMetadata: { enabled: false },
      messages: {
        // typedoc and the compiler have their say elsewhere; here the names and their types matter.
        compilerMessageReporting: { default: { logLevel: 'none' } },
        extractorMessageReporting: { default: { logLevel: 'none' } },
        tsdocMessageReporting: { default: { logLevel: 'none' } },
      },
    },
  });
  const result = Extractor.invoke(config, {
    localBuild: write,
    // Its own words would send people to another command.
    messageCallback: (message) => {
      message.handled = message.logLevel !== 'error';
    },
  });
  if (result.apiReportChanged && !write) {
    changed = true;
    console.error(
      `api/${entry}.api.md is not what dist/${entry}.d.ts says; the new one is node_modules/.cache/api/${entry}.api.md.`,
    );
  }
}
if (changed) console.error('If the change is meant, run: npm run build && npm run api -- --write');
else console.log('api/: the public types are as recorded');
process.exitCode = changed ? 1 : 0;
