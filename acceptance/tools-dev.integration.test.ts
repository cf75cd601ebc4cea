import { toolsSuite } from "./tools.suite.ts";

toolsSuite({ mode: "dev", registeredBy: "app" });
