import { crashSuite } from "./crash.suite.ts";

crashSuite({
  name: "app",
  prepare: (world) => world.keepSpare(),
  kill: (world) => world.killHost(),
  follow: async (world) => {
    world.useSpare();
    await world.keepSpare();
  },
  // The server lives on: what it was told in an answer is as safe as what it confirmed.
  safeAtMs: ({ traces }, step) => traces.safeAtMs.get(step) ?? traces.answeredAtMs.get(step) ?? null,
});
