// The whole contract on one store: `storeContract("SQLite file", open)`.
import { describe } from "vitest";
import { alertsSuite } from "./alerts.suite.ts";
import { amendsSuite } from "./amends.suite.ts";
import { auditSuite } from "./audit.suite.ts";
import { batchesSuite } from "./batches.suite.ts";
import { besideSuite } from "./beside.suite.ts";
import { cancelRulesSuite } from "./cancel-rules.suite.ts";
import { channelsSuite } from "./channels.suite.ts";
import { claimsSuite } from "./claims.suite.ts";
import { countsSuite } from "./counts.suite.ts";
import { cronsSuite } from "./crons.suite.ts";
import { debounceSuite } from "./debounce.suite.ts";
import { endsSuite } from "./ends.suite.ts";
import { environmentsSuite } from "./environments.suite.ts";
import { eventsSuite } from "./events.suite.ts";
import { functionsSuite } from "./functions.suite.ts";
import { lanesSuite } from "./lanes.suite.ts";
import { leasesSuite } from "./leases.suite.ts";
import { metadataSuite } from "./metadata.suite.ts";
import { pagesSuite } from "./pages.suite.ts";
import { parkedSuite } from "./parked.suite.ts";
import { pendingInvokesSuite } from "./pending-invokes.suite.ts";
import { pendingReadsSuite } from "./pending-reads.suite.ts";
import { pruneSuite } from "./prune.suite.ts";
import { rateLimitSuite } from "./rate-limit.suite.ts";
import { redecideSuite } from "./redecide.suite.ts";
import { rerunFromSuite } from "./rerun-from.suite.ts";
import { runLogsSuite } from "./run-logs.suite.ts";
import { runsSuite } from "./runs.suite.ts";
import { settingsSuite } from "./settings.suite.ts";
import { singletonSuite } from "./singleton.suite.ts";
import { stepInputsSuite } from "./step-inputs.suite.ts";
import { stepsSuite } from "./steps.suite.ts";
import { throttleSuite } from "./throttle.suite.ts";
import { turnsSuite } from "./turns.suite.ts";
import { waitsSuite } from "./waits.suite.ts";
import { workersSuite } from "./workers.suite.ts";
import type { OpenStore } from "./world.ts";

const suites = [
  alertsSuite,
  amendsSuite,
  auditSuite,
  batchesSuite,
  besideSuite,
  cancelRulesSuite,
  channelsSuite,
  claimsSuite,
  countsSuite,
  cronsSuite,
  debounceSuite,
  endsSuite,
  environmentsSuite,
  eventsSuite,
  functionsSuite,
  lanesSuite,
  leasesSuite,
  metadataSuite,
  pagesSuite,
  parkedSuite,
  pendingInvokesSuite,
  pendingReadsSuite,
  pruneSuite,
  rateLimitSuite,
  redecideSuite,
  rerunFromSuite,
  runLogsSuite,
  runsSuite,
  settingsSuite,
  singletonSuite,
  stepInputsSuite,
  stepsSuite,
  throttleSuite,
  turnsSuite,
  waitsSuite,
  workersSuite,
];

export function storeContract(
  name: string,
  open: OpenStore,
  leftOut: readonly ((open: OpenStore) => void)[] = [],
): void {
  describe(name, () => {
    for (const suite of suites) if (!leftOut.includes(suite)) suite(open);
  });
}
