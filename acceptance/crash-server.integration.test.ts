import { crashSuite } from "./crash.suite.ts";

crashSuite({
  name: "server",
  prepare: async () => {},
  kill: (world) => world.killServer(),
  follow: (world) => world.startServer(),
  safeAtMs: ({ traces }, step) => traces.safeAtMs.get(step) ?? null,
});
