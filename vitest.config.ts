import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

// Generous: a loaded machine must not fail a test that asserts facts.
const testTimeout = 60_000;

const project = (name: string, include: string[], exclude: string[] = []) => ({
  test: {
    name,
    include,
    exclude,
    testTimeout,
    hookTimeout: testTimeout,
    expect: { poll: { timeout: 15_000, interval: 50 } },
    // What is built is loaded by Node, as users' projects load it, instead of being transformed once more.
    server: { deps: { external: [/\/packages\/[\w-]+\/dist\//] } },
  },
});

// A test that replaces a module needs one that nobody has loaded before it.
const replacing = ["packages/idem/src/**/constant-time.test.ts"];

// The longest files of their projects, longest first: one that begins when all others are over would be waited for alone, and how long a
// file takes is known to vitest only where it ran before.
const longest = [
  "torture/torture",
  "sim/sim",
  "acceptance/crash-server",
  "torture/postgres",
  "acceptance/crash-app",
  "acceptance/connect",
  "acceptance/faults",
  "siege/siege",
  "examples/double-invoice/story",
  "acceptance/toolkit/real-processes",
  "torture/toolkit/matrix",
  "dashboard/tests/runs",
  "dashboard/tests/radar",
  "store/postgres/postgres-store",
  "store/sqlite/sqlite-store",
  "verify/corpus",
  "verify/verify-function",
  "server/fuzz/fuzz",
  "cli/gone-store",
  "cli/verify",
  "verify/mends/mends",
  "store/postgres/released-stores",
  "http/doors/doors",
  "cli/process",
  "verify/watching",
  "execute/call-remote",
  "store/sqlite/store-trouble",
  "engine/blocked-loop",
];

/** Long ones first; the many short ones that share a process stand last, and end together. */
class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const placeOf = ({ moduleId, project }: TestSpecification): number => {
      const place = longest.findIndex((each) => moduleId.endsWith(`/${each}.test.ts`));
      const group = project.config.isolate ? 0 : project.name === "idem" ? 2 : 1;
      return group * 1_000 + (place === -1 ? longest.length : place);
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => placeOf(a) - placeOf(b));
  }
}

// Two cores: a fifth of the time a test waits (for a process, a lock, a disk), so four workers keep both busy.
export default defineConfig({
  test: {
    maxWorkers: 4,
    sequence: { sequencer: LongestFirst },
    projects: [
      // Its files share a process: half of their time went into loading the same modules for each (53 s of processor for 53 files, 29 s so).
      {
        test: {
          ...project("idem", ["packages/idem/src/**/*.test.ts"], ["**/tidy.test.ts", ...replacing]).test,
          isolate: false,
        },
      },
      project("replacing", replacing),
      project("tidy", ["packages/idem/src/tidy.test.ts", "bench/history.test.ts"]),
      project("sim", ["sim/**/*.test.ts"]),
      project("torture", ["torture/**/*.test.ts"]),
      project("siege", ["siege/**/*.test.ts"]),
      // Real browsers. Files share a process, and with it one browser and its pages.
      {
        test: {
          ...project("dashboard", ["packages/dashboard/**/*.test.ts"]).test,
          isolate: false,
          globalSetup: ["packages/dashboard/tests/unpack-browser.ts"],
        },
      },
      // Its files share a process: each would load ESLint and a TypeScript of its own.
      { test: { ...project("lint", ["packages/eslint-plugin/src/**/*.test.ts"]).test, isolate: false } },
      project("create", ["packages/create-idem/src/**/*.test.ts"]),
      project("examples", ["examples/**/*.test.ts"]),
      // Mostly waiting for other processes: many at once take as long as one.
      { test: { ...project("acceptance", ["acceptance/**/*.test.ts"]).test, maxConcurrency: 40 } },
    ],
  },
});
