// The responses that component tests are given are recorded by a test of their own, which `npm test` leaves alone: it writes into the repository.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["tests/record-responses.ts"],
    testTimeout: 600_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
