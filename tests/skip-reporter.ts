import type { Reporter, TestCase, TestModule } from "vitest/node";

/** Says at the end how many tests were skipped and for want of what: a skip is only allowed for a missing program. */
export default class SkipReporter implements Reporter {
  onTestRunEnd(modules: readonly TestModule[]): void {
    const skipped = modules.flatMap((module) => [...module.children.allTests("skipped")]);
    const passed = modules.flatMap((module) => [...module.children.allTests("passed")]).length;
    const failed = modules.flatMap((module) => [...module.children.allTests("failed")]).length;
    for (const test of skipped) console.log(`skipped: ${test.fullName}${reason(test)}`);
    console.log(`${passed} passed, ${failed} failed, ${skipped.length} skipped`);
  }
}

function reason(test: TestCase): string {
  const result = test.result();
  return result.state === "skipped" && result.note !== undefined ? ` (${result.note})` : "";
}
