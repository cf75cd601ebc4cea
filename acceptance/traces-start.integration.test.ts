// Apps in production: everything is signed, and apps register themselves.
import { traceSuite } from "./traces.suite.ts";

traceSuite({ mode: "start", registeredBy: "app" });
