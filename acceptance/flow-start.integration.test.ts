import { flowSuite } from "./flow.suite.ts";

flowSuite({ mode: "start", registeredBy: "start" });
