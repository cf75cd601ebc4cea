import { crashSuite } from "./crash.suite.ts";

crashSuite("app", (world) => world.replaceHost());
