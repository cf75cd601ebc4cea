import { describe, expect, test } from "vitest";
import { awaitedOf, fittingData } from "./awaited.ts";
import type { RunAnswer, TimelineEntry } from "./run-data.ts";
import { entry, run } from "./timeline.suite.ts";

const asked = (value: unknown) =>
  ({ value, bytes: 9, isOmitted: false, isEdited: false, lost: null }) as TimelineEntry["input"];

describe("what a run waits for", () => {
  test("events and signals are named with what they must fulfil and until when; a sleep is not among them", () => {
    const timeline = [
      entry({ name: "nap", kind: "sleep", state: "waiting", waitsUntil: 5 }),
      entry({
        name: "approval",
        kind: "wait-for-event",
        state: "waiting",
        waitsUntil: 9,
        input: asked({ event: "invoice/approved", match: "data.order" }),
      }),
      entry({ name: "go", kind: "wait-for-signal", state: "waiting", input: asked({ signal: "go-7" }) }),
    ];
    expect(awaitedOf({ run: run({ timeline }) } as RunAnswer)).toMatchObject([
      { kind: "event", name: "invoice/approved", condition: "async.data.order == event.data.order", until: 9 },
      { kind: "signal", name: "go-7", condition: null, until: null },
    ]);
  });

  test("the data that is offered fulfils what the condition compares with the run's own event", () => {
    const condition = "async.data.invoice == event.data.draft.id && async.data.ok == true && async.data.by == 'kim'";
    expect(fittingData(condition, { draft: { id: "in_7" } })).toEqual({ invoice: "in_7", ok: true, by: "kim" });
    expect(fittingData("event.data.order == async.data.of.order", { order: 7 })).toEqual({ of: { order: 7 } });
    expect(fittingData("async.data.total > 10", {})).toEqual({});
    expect(fittingData(null, { order: 7 })).toEqual({});
  });
});
