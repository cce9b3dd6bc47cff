import { checkBundles } from './bundles.mjs';
import { checkTestRunners } from './test-runners.mjs';
import { checkTypes } from './types.mjs';

await checkTypes();
await checkBundles();
await checkTestRunners();
