// The doctor's proposals where people have refused a key.
import { expect, test } from "vitest";
import type { Event } from "../model/event.ts";
import type { StartedRun } from "../radar/doubled-runs.ts";
import { type RefusedKey, refusedKeyKind } from "../radar/refused-keys.ts";
import type { Reading } from "./command.ts";
import { examineHistory } from "./examine-history.ts";

const hour = 3_600_000;

const runOf = (id: number, repeat: number, over: Partial<StartedRun> = {}): StartedRun => {
  const at = id * hour + repeat * 800;
  const data = JSON.stringify({ placementId: id, contractId: `c-${id}` });
  const event: Event = {
    ...{ id: `e${id}${repeat}`, callerId: null, name: "placement/event", data, ts: at, extra: null },
    ...{ receivedAt: at, firstEventId: null, sourceRunId: null },
  };
  return { runId: `r${id}${repeat}`, key: null, createdAt: at, event, ...over };
};

function findings(runs: readonly StartedRun[], refused: readonly RefusedKey[] = [], key: string | null = null) {
  const settings = async (_env: string, kind: string) =>
    kind === refusedKeyKind ? refused.map((each) => ({ value: JSON.stringify(each) })) : [];
  const rows = {
    functionsWithRuns: () => ["shop-draft"],
    openedRuns: () => runs,
    receivedEvents: () => [],
    suppressedEvents: () => [],
  };
  const reading = { env: "default", rows, reads: { settings }, nameOf: () => "draft" } as unknown as Reading;
  const configs = new Map(key === null ? [] : [["shop-draft", { idempotency: { key, windowMs: 24 * hour } } as any]]);
  const options = { since: 0, nearMs: 60_000, windowMs: 24 * hour };
  return examineHistory(reading, configs, options, () => {}).then((history) => history.findings);
}

const twice = [1, 2, 3, 4].flatMap((id) => [runOf(id, 0), runOf(id, 1)]);
const no = (expression: string): RefusedKey => ({
  fn: "shop-draft",
  expression,
  reason: "a placement is billed every month",
  by: "Ada",
  at: 0,
});

test("a proposed key is told with how often it was there; one that somebody refused gives way to the next, and is named", async () => {
  const [first] = await findings([
    ...twice,
    runOf(5, 0),
    { ...runOf(6, 0), event: { ...runOf(6, 0).event, data: "{}" } },
  ]);
  expect(first).toMatchObject({
    kind: "doubled-runs",
    facts: { expression: "event.data.placementId", presentCount: 9 },
  });
  expect(first!.details).toContain("event.data.placementId was there in 9 of 10 runs");
  const [next, said] = await findings(twice, [no("event.data.placementId")]);
  expect(next).toMatchObject({ kind: "doubled-runs", facts: { expression: "event.data.contractId", presentCount: 8 } });
  expect(said).toMatchObject({ kind: "key-refused", level: "note" });
  expect(said!.details[0]).toContain("a placement is billed every month");
  const none = await findings(twice, [no("event.data.placementId"), no("event.data.contractId")]);
  expect(none.map(({ kind, level }) => [kind, level])).toEqual([
    ["key-refused", "note"],
    ["key-refused", "note"],
  ]);
});

test("a key that ran again because the run before failed and gave it back is no finding; released by hand it is one", async () => {
  const runs = (isAfterFailure: boolean) => [runOf(1, 0, { key: "1" }), runOf(1, 1, { key: "1", isAfterFailure })];
  expect(await findings(runs(true), [], "event.data.placementId")).toEqual([]);
  expect(await findings(runs(false), [], "event.data.placementId")).toMatchObject([{ kind: "key-ran-again" }]);
});
