import { defineConfig } from "vitest/config";

// Generous: a loaded machine must not fail a test that asserts facts.
const testTimeout = 60_000;

const project = (name: string, include: string[], exclude: string[] = []) => ({
  test: { name, include, exclude, testTimeout, hookTimeout: testTimeout },
});

// Two cores: two workers keep both busy, more only add noise.
export default defineConfig({
  test: {
    maxWorkers: 2,
    projects: [
      project("idem", ["packages/idem/src/**/*.test.ts"], ["**/tidy.test.ts"]),
      project("tidy", ["packages/idem/src/tidy.test.ts"]),
      project("sim", ["sim/**/*.test.ts"]),
      project("torture", ["torture/**/*.test.ts"]),
      // Real browsers: on a loaded machine a page takes its time.
      {
        test: {
          ...project("dashboard", ["packages/dashboard/**/*.test.ts"]).test,
          globalSetup: ["packages/dashboard/tests/unpack-browser.ts"],
          expect: { poll: { timeout: 15_000, interval: 50 } },
        },
      },
      project("examples", ["examples/**/*.test.ts"]),
      // Mostly waiting for other processes: many at once take as long as one.
      { test: { ...project("acceptance", ["acceptance/**/*.test.ts"]).test, maxConcurrency: 40 } },
    ],
  },
});
