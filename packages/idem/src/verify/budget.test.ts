// Worlds that take long: as many as there is time for.
import { expect, test } from "vitest";
import { readSchedule } from "./schedules.ts";
import type { WorldRecord } from "./thing.ts";
import { verifyFunction } from "./verify-function.ts";
import type { DescribedFunction, ToThread } from "./worker/messages.ts";

const fn: DescribedFunction = {
  app: "shop",
  env: "default",
  fn: "shop-charge",
  config: {
    id: "charge",
    name: "charge",
    triggers: [{ event: "placement/made" }],
    retries: 3,
    idempotency: null,
    startTimeoutMs: null,
    finishTimeoutMs: null,
  },
  code: "",
  handlesEnd: false,
  place: null,
  madeBy: null,
};

/** A world in which everything of its schedule happened, and nothing came of it. */
const heldRecord = (schedule: string, seed: number): WorldRecord => ({
  schedule,
  seed,
  notHappened: [],
  runs: [{ id: "run", fn: "shop-charge", state: "completed", error: null, isRerun: false }],
  wasRerun: false,
  isPastWindow: false,
  isOpen: false,
  parked: [],
  things: [],
  effects: [],
  sent: [],
  madeIds: [],
  commits: { before: 2, after: 2 },
  commitsOfCode: [1, 2],
  steps: [],
  hasWaits: false,
  divergences: [],
  unproven: [],
  absent: [],
  assumptions: [],
  drawn: [],
  timeline: [],
  lifeCount: 1,
  tookMs: 1,
});

/** Each world takes a second. */
async function verifyWithin(budgetMs: number) {
  let nowMs = 0;
  const played: string[] = [];
  const ask = async (message: ToThread) => {
    if (message.kind !== "play") throw new Error("worlds are only played");
    nowMs += 1_000;
    played.push(message.schedule);
    return { kind: "played", record: heldRecord(message.schedule, message.seed), heapBytes: 0 } as const;
  };
  const report = await verifyFunction({
    threads: { ask },
    platform: { monoMs: () => nowMs },
    modules: [],
    fn,
    endHandlers: [],
    event: { name: "placement/made", data: { placementId: "7" } },
    budgetMs,
    isEveryWorldBudgeted: true,
    mends: false,
  });
  return { report, schedules: played.filter((name) => readSchedule(name)!.adversities.length > 0) };
}

test("what a budget leaves unplayed is counted, and a function of which nothing was played is unproven", async () => {
  const some = await verifyWithin(5_000);
  expect(some.schedules).toHaveLength(5);
  expect(some.report).toMatchObject({ verdict: "HELD", schedules: 5 });
  const whole = await verifyWithin(1_000_000);
  expect(whole.report).toMatchObject({ verdict: "HELD", unplayed: 0 });
  expect(some.report.schedules + some.report.unplayed).toBe(whole.report.schedules);
  const none = await verifyWithin(0);
  expect(none.report).toMatchObject({ verdict: "UNPROVEN", schedules: 0 });
  expect(none.report.findings[0]!.thing).toMatch(/the budget was spent before anything could be played/);
});
