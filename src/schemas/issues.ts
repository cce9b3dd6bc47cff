import type * as z from 'zod/mini';
import { didYouMean } from './closest.js';
import { visible } from './visible.js';

/** One problem: where, and what. */
interface Problem {
  path: string;
  message: string;
}

type Issue = z.core.$ZodIssue;

/** zod's issues as `path` and `message`, with a likely name for each unknown key. Values are left out. */
export function describeIssues(issues: readonly Issue[], knownKeys: readonly string[] = []): Problem[] {
  return issues.flatMap((issue): Problem[] => {
    if (issue.code !== 'unrecognized_keys')
      return [{ path: visible(issue.path.map(String).join('.')), message: issue.message }];
    return issue.keys.map((key) => ({
      path: visible([...issue.path.map(String), key].join('.')),
      message: `is not a parameter. ${didYouMean(key, knownKeys)}`,
    }));
  });
}
