import { toolsSuite } from "./tools.suite.ts";

// The oldest version that is followed; the others run with the newest (docs/reference/wire.md#versions).
toolsSuite({ mode: "start", registeredBy: "start", env: { ACCEPTANCE_SDK: "inngest-4-18" } });
