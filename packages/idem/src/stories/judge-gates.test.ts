// The words on each of the four gates, from cases made up here.
import { expect, test } from "vitest";
import type { TimelineEntry } from "../observe/timeline.ts";
import { caseRun, madeUpCase } from "./case.suite.ts";
import { judgeGates } from "./judge-gates.ts";

const step = (kind: TimelineEntry["kind"], destinationKey: string | null, name = "pay"): Partial<TimelineEntry> => ({
  kind,
  name,
  stepId: name,
  destinationKey,
});

const gateOf = (...steps: readonly (readonly Partial<TimelineEntry>[])[]) =>
  judgeGates(
    madeUpCase({
      runs: steps.map((timeline, i) => caseRun({ number: i + 1, kind: i === 0 ? "first" : "slipped", timeline })),
    }),
  )[3];

const notSaid = "It did not say what it sent.";

test("a step that was handed a key and said nothing is not known to have sent it", () => {
  expect(gateOf([step("run", "k1")])).toEqual({
    gate: "destination-key",
    state: "not-known",
    reason: `Step pay was handed a key. ${notSaid}`,
  });
  expect(gateOf([step("transaction", "k1")], [step("transaction", "k1")])).toMatchObject({
    state: "not-known",
    reason: `Step pay was handed the same key each time. ${notSaid}`,
  });
});

test("another key in each run let the duplicate through, whatever the step sent", () => {
  const look = step("run", "k3", "look-up");
  const pay = (key: string) => ({ ...step("run", key), output: { id: `pi_${key}` } });
  expect(gateOf([look, pay("k1")], [{ ...look, destinationKey: "k4" }, pay("k2")])).toMatchObject({
    state: "let-through",
    // Of the one that made something.
    reason: "Step pay was handed another key in each run. What it sent is not known.",
  });
});

test("an effect says what it sent: the same key stopped it, another one did not", () => {
  expect(gateOf([step("effect", "k1")])).toMatchObject({
    state: "nothing-to-stop",
    reason: "Step pay sent its key once.",
  });
  expect(gateOf([step("effect", "k1")], [step("effect", "k1")])).toMatchObject({ state: "stopped" });
  expect(gateOf([step("effect", "k1")], [step("effect", "k2"), step("run", "k3", "mail")])).toMatchObject({
    state: "let-through",
    reason: "Step pay sent another key in each run: without a function's key it comes from the event.",
  });
});

test("steps that a rerun brought along sent nothing, and steps that wait were handed nothing", () => {
  expect(gateOf([{ ...step("effect", "k1"), isKept: true }, step("sleep", null)])).toMatchObject({
    state: "not-in-use",
    reason: "No step was handed a key to send.",
  });
  expect(judgeGates(madeUpCase({}))[3]).toMatchObject({ reason: "Nothing ran, so nothing was sent." });
});
