import { checkBundles } from './bundles.mjs';
import { checkSkills } from './skills.mjs';
import { checkTestRunners } from './test-runners.mjs';
import { checkTypes } from './types.mjs';

await checkTypes();
await checkBundles();
await checkTestRunners();
await checkSkills();
