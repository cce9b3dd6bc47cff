import type { Reporter, TestModule, TestSuite } from 'vitest/node';

/**
 * Ends a run with `tests: N passed, N failed, N skipped`. A file that does not load, a hook that fails, an error
 * that nobody caught and a type error count as failed too, so that no broken run reads as a good one.
 */
export default class TotalsReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[], unhandled: readonly unknown[]): void {
    const count = { passed: 0, failed: unhandled.length, skipped: 0, pending: 0 };
    for (const testModule of modules) {
      count.failed += brokenOutsideTests(testModule);
      for (const suite of testModule.children.allSuites()) count.failed += brokenOutsideTests(suite);
      for (const test of testModule.children.allTests()) count[test.result().state] += 1;
    }
    const { passed, failed, skipped, pending } = count;
    console.log(`tests: ${passed} passed, ${failed} failed, ${skipped + pending} skipped`);
  }
}

const brokenOutsideTests = (group: TestModule | TestSuite): number => group.errors().length;
