import { crashSuite } from "./crash.suite.ts";

crashSuite({
  name: "app",
  prepare: (world) => world.keepSpare(),
  kill: (world) => world.killHost(),
  follow: async (world) => {
    world.useSpare();
    await world.keepSpare();
  },
});
