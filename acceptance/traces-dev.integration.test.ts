// Apps in development: no keys, and the server asks the apps for their functions when it starts.
import { traceSuite } from "./traces.suite.ts";

traceSuite({ mode: "dev", registeredBy: "start" });
