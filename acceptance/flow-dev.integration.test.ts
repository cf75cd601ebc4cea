import { flowSuite } from "./flow.suite.ts";

flowSuite({ mode: "dev", registeredBy: "app" });
