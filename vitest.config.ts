// Two tiers, told apart by file name. `npm test` runs every *.test.ts; `npm run test:integration` runs every *.integration.test.ts.
// Projects of the second tier have names that begin with "integration", so `--project` can choose a tier.
import { defineConfig } from "vitest/config";
import { BaseSequencer, type TestSpecification } from "vitest/node";

const integration = "**/*.integration.test.{ts,tsx}";

const project = (name: string, include: string[], exclude: string[] = []) => ({
  test: {
    name,
    include,
    exclude: name.startsWith("integration") ? exclude : [integration, ...exclude],
    // Bounds against hanging, not measurements: a machine that is eight times slower must still pass.
    testTimeout: 120_000,
    hookTimeout: 120_000,
    expect: { poll: { timeout: 60_000, interval: 20 } },
    setupFiles: ["scripts/test-setup.ts"],
    // Node loads built packages as it does in users' projects, without a transformation by vite.
    server: { deps: { external: [/\/packages\/[\w-]+\/dist\//] } },
  },
});

type Project = ReturnType<typeof project>;

/** Files of one worker share its modules. Loading them for each file took half of the time. */
const sharingModules = ({ test }: Project) => ({ test: { ...test, isolate: false } });

const withPostgres = ({ test }: Project) => ({ test: { ...test, globalSetup: ["scripts/shared-postgres.mjs"] } });

// A test that replaces a module must be the first to load it.
const replacingModules = ["packages/idem/src/**/constant-time.test.ts"];
const repositoryChecks = ["packages/idem/src/repository-checks.test.ts", "bench/history.test.ts"];

// The longest files of both tiers, longest first. Vitest knows how long a file takes only if it ran here before, and a long file that begins
// last runs alone.
const longest = [
  "sim/sim",
  "torture/torture",
  "store/postgres/postgres-store",
  "store/postgres/batches-equal-operations",
  "acceptance/crash-server",
  "verify/corpus",
  "runtimes/contract",
  "torture/postgres",
  "siege/siege",
  "examples/double-invoice/story",
  "store/sqlite/sqlite-store",
  "acceptance/crash-app",
  "cli/verify",
  "cli/gone-store",
  "verify/verify-function",
  "acceptance/connect",
  "torture/toolkit/matrix",
  "verify/mends/mends",
  "acceptance/toolkit/real-processes",
  "server/fuzz/fuzz",
  "execute/transaction",
  "execute/call-remote",
  "store/sqlite/store-trouble",
  "pages/runs/runs-page",
  "store/transfer/move-store",
  "http/doors/doors",
  "server/routes/api/groups",
  "engine/relay-outbox",
  "execute/call-remote-faults",
  "keys/engine-keys",
];

class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const rankOf = ({ moduleId, project }: TestSpecification): number => {
      const rank = longest.findIndex((name) =>
        moduleId.replace(/(\.integration)?\.test\.tsx?$/, "").endsWith(`/${name}`),
      );
      // Short files that share a worker come last: they end at about the same time.
      const group = project.config.isolate ? 0 : project.name === "idem" ? 2 : 1;
      return rank === -1 ? longest.length + group : rank;
    };
    const sorted = await super.sort(files);
    return sorted.toSorted((a, b) => rankOf(a) - rankOf(b));
  }
}

export default defineConfig({
  test: {
    // Two cores, and a third of the time a test waits for a process, a lock, a timer or a disk: five workers keep both busy.
    maxWorkers: 5,
    sequence: { sequencer: LongestFirst },
    reporters: ["default", "./scripts/repeat-reporter.ts"],
    projects: [
      withPostgres(
        sharingModules(project("idem", ["packages/idem/src/**/*.test.ts"], [...repositoryChecks, ...replacingModules])),
      ),
      project("replacing-modules", replacingModules),
      project("checks", repositoryChecks),
      project("simulator", ["sim/**/*.test.ts"]),
      sharingModules(project("dashboard", ["packages/dashboard/**/*.test.{ts,tsx}"])),
      sharingModules(project("lint", ["packages/eslint-plugin/src/**/*.test.ts"])),
      project("create", ["packages/create-idem/src/**/*.test.ts"]),
      withPostgres(project("examples", ["examples/**/*.test.ts"])),
      withPostgres(
        project("integration", [
          "packages/{idem,eslint-plugin,create-idem}/src/**/*.integration.test.ts",
          "{examples,torture,siege,runtimes}/**/*.integration.test.ts",
        ]),
      ),
      // Mostly waiting for other processes, so many at once take as long as one.
      withPostgres({
        test: { ...project("integration-sdk", ["acceptance/**/*.integration.test.ts"]).test, maxConcurrency: 40 },
      }),
      // Files share a worker, and with it one browser and its pages.
      {
        test: {
          ...sharingModules(project("integration-browser", ["packages/dashboard/**/*.integration.test.ts"])).test,
          globalSetup: ["packages/dashboard/tests/unpack-browser.ts"],
        },
      },
    ],
  },
});
