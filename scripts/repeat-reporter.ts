// Prints, for each failed test, the command that repeats it alone, with the seed of property tests.
import { relative } from "node:path";
import type { Reporter, TestCase, TestModule } from "vitest/node";

// Beyond that something is broken that one of them shows.
const shownMax = 20;

export default class RepeatReporter implements Reporter {
  private readonly failed: TestCase[] = [];

  onTestCaseResult(test: TestCase): void {
    if (test.result().state === "failed") this.failed.push(test);
  }

  onTestRunEnd(modules: readonly TestModule[]): void {
    const broken = modules.filter((module) => module.errors().length > 0);
    if (this.failed.length + broken.length === 0) return;
    console.log("\nTo repeat what failed:");
    const environment = Object.entries(process.env).filter(([name]) => /^(IDEM|FUZZ|KILL|TORTURE)_\w*SEED$/.test(name));
    const seeds = environment.map(([name, value]) => `${name}=${value} `).join("");
    for (const test of this.failed.slice(0, shownMax)) {
      console.log(`  ${test.fullName}\n    ${seeds}${commandOf(test.module, test.fullName)}`);
    }
    if (this.failed.length > shownMax) console.log(`  and ${this.failed.length - shownMax} more`);
    for (const module of broken) console.log(`  ${commandOf(module)}`);
  }
}

function commandOf(module: TestModule, name?: string): string {
  const only = name === undefined ? "" : ` -t ${JSON.stringify(patternOf(name.replaceAll(" > ", " ")))}`;
  return `npx vitest run --project ${module.project.name} ${relative(process.cwd(), module.moduleId)}${only}`;
}

/** `-t` takes a regular expression, and the shell reads what is between double quotes. */
const patternOf = (name: string): string => name.replaceAll(/[\\^$.*+?()[\]{}|`!"]/g, ".");
