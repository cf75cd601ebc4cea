import { toolsSuite } from "./tools.suite.ts";

toolsSuite({ mode: "start", registeredBy: "start" });
