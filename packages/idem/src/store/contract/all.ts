// The whole contract on one store: `storeContract("SQLite file", open)`.
import { describe } from "vitest";
import { claimsSuite } from "./claims.suite.ts";
import { environmentsSuite } from "./environments.suite.ts";
import { eventsSuite } from "./events.suite.ts";
import { functionsSuite } from "./functions.suite.ts";
import { leasesSuite } from "./leases.suite.ts";
import { pagesSuite } from "./pages.suite.ts";
import { pruneSuite } from "./prune.suite.ts";
import { rerunFromSuite } from "./rerun-from.suite.ts";
import { runsSuite } from "./runs.suite.ts";
import { stepsSuite } from "./steps.suite.ts";
import { waitsSuite } from "./waits.suite.ts";
import type { OpenStore } from "./world.ts";

export function storeContract(name: string, open: OpenStore): void {
  describe(name, () => {
    claimsSuite(open);
    environmentsSuite(open);
    eventsSuite(open);
    functionsSuite(open);
    leasesSuite(open);
    pagesSuite(open);
    pruneSuite(open);
    rerunFromSuite(open);
    runsSuite(open);
    stepsSuite(open);
    waitsSuite(open);
  });
}
