import { crashSuite } from "./crash.suite.ts";

crashSuite("server", async (world) => {
  await world.killServer();
  await world.startServer();
});
