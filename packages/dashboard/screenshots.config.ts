// The pictures are made by a test of their own, which `npm test` leaves alone: it writes into the repository.
import { defineConfig } from "vitest/config";

export default defineConfig({
  test: {
    root: import.meta.dirname,
    include: ["tests/screenshots.ts"],
    testTimeout: 600_000,
    hookTimeout: 60_000,
    expect: { poll: { timeout: 15_000 } },
  },
});
