// The words on each of the four gates, from cases made up here.
import { expect, test } from "vitest";
import type { FunctionConfig } from "../model/function-config.ts";
import type { TimelineEntry } from "../observe/timeline.ts";
import { caseRun, madeUpCase } from "./case.suite.ts";
import type { Case } from "./gather-case.ts";
import { judgeGates } from "./judge-gates.ts";
import { nextSteps } from "./next-steps.ts";

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

test("a step of an Inngest SDK app got no key: the gate says so, and the advice is a key made from the event", () => {
  const config = {
    id: "charge",
    name: "charge",
    triggers: [],
    retries: 4,
    idempotency: null,
    startTimeoutMs: null,
    finishTimeoutMs: null,
    runtime: { kind: "http", url: "http://localhost:3000/api/inngest" },
  } as unknown as FunctionConfig;
  const told = (count: number, guess: Case["guess"] = null) =>
    madeUpCase({
      function: { fn: "shop-charge", name: "charge", config, pausedAt: null },
      guess,
      runs: Array.from({ length: count }, (_, i) =>
        caseRun({ number: i + 1, kind: i === 0 ? "first" : "slipped", timeline: [step("run", `k${i}`)] }),
      ),
    });
  for (const count of [1, 2]) {
    const [, , , gate] = judgeGates(told(count));
    expect(gate).toEqual({
      gate: "destination-key",
      state: "not-known",
      reason:
        "Idem passes no key to steps of an Inngest SDK app and does not know what step pay sent. Send a key of your own, made from the event and the step id.",
    });
  }
  const adviceOf = (of: Case) => nextSteps(of, judgeGates(of)).find(({ does }) => does === "send-key");
  expect(adviceOf(told(2, { expression: "event.data.orderId", entity: "7" }))).toMatchObject({
    text: "Send others a key of your own from the step, as a second guard.",
    // biome-ignore lint/suspicious/noTemplateCurlyInString: the line to paste has a template in it
    other: "step.run(id, () => send({ idempotencyKey: `${event.data.orderId}:${id}` }))",
  });
  // biome-ignore lint/suspicious/noTemplateCurlyInString: the line to paste has a template in it
  expect(adviceOf(told(2))?.other).toContain("${event.id}:${id}");
});
