import { defineConfig } from "vitest/config";

// Two cores: two workers keep both busy, more only add noise.
export default defineConfig({
  test: {
    maxWorkers: 2,
    testTimeout: 30_000,
    projects: [
      { test: { name: "idem", include: ["packages/idem/src/**/*.test.ts"], exclude: ["**/tidy.test.ts"] } },
      { test: { name: "tidy", include: ["packages/idem/src/tidy.test.ts"] } },
      { test: { name: "examples", include: ["examples/**/*.test.ts"] } },
    ],
  },
});
