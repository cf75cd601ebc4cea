// Sentences, from cases made up here.
import { describe, expect, test } from "vitest";
import type { Claim } from "../model/claim.ts";
import type { Decision } from "../model/decision.ts";
import { caseRun, madeUpCase, madeUpEvent, startedAt } from "./case.suite.ts";
import type { Case } from "./gather-case.ts";
import { storyLines } from "./story-text.ts";
import { tellStory } from "./tell-story.ts";

const told = (over: Partial<Case>) =>
  tellStory(madeUpCase(over), { as: "event", id: "EVENT1", function: null }, "event order/paid");
const texts = (over: Partial<Case>) => told(over).facts.map(({ text }) => text);

const decision = (over: Partial<Decision>): Decision => ({
  eventId: "EVENT1",
  fn: "shop-charge",
  kind: "started",
  reason: null,
  runId: null,
  key: null,
  windowEndsAt: null,
  firstEventId: null,
  decidedAt: startedAt,
  ...over,
});

const claim = (over: Partial<Claim> = {}): Claim => ({
  scope: "fn:shop-charge",
  key: '"a"',
  holder: "RUN1",
  fence: 1,
  generation: "g1",
  state: "settled",
  fingerprint: null,
  takenAt: startedAt,
  leaseUntil: null,
  endsAt: startedAt + 3_600_000,
  held: false,
  asked: 1,
  lastAskedAt: startedAt,
  outcome: null,
  ...over,
});

describe("a verdict has its because, for every decision that started nothing", () => {
  test.each([
    ["paused", null, "the function was paused"],
    ["held", null, "its key was missing, and the function holds such events"],
    ["rate-limited", "at most 1 in 1 h", "the rate limit was used up"],
    ["dropped", "dropped by hand: mistake", "a person dropped it"],
    ["missed", "tick 1 was missed", "its tick was found too late"],
    ["filtered", "`event.data.total > 100` is false", "`event.data.total > 100` is false"],
  ] as const)("%s", (kind, reason, why) => {
    const story = told({ asked: madeUpEvent(), decisions: [decision({ kind, reason })] });
    expect(story.title).toBe(`Event order-7 started nothing because ${why}`);
  });
});

test("an event that another's run answers for is judged by what became of it, not by that run", () => {
  const asked = madeUpEvent({ id: "EVENT2", callerId: null });
  const own = decision({ eventId: "EVENT2", kind: "singleton-skipped", runId: "RUN1" });
  const story = told({ asked, decisions: [own], runs: [caseRun({ spared: [{ ...own, differs: [] }] })] });
  expect(story).toMatchObject({
    tone: "suppressed",
    title: "Event EVENT2 started nothing because one run at a time is allowed",
    detail: "Run 1 answers for it.",
  });
});

test("a duplicate that asked for something else is told to have differed; repeats are folded", () => {
  const spared = [1, 2, 3].map((n) => ({
    ...decision({ eventId: `AGAIN${n}`, kind: "duplicate-key", runId: "RUN1", decidedAt: startedAt + n }),
    differs: n === 2 ? ["data.total"] : [],
  }));
  const { facts } = told({ runs: [caseRun({ run: { key: '"a"' }, spared })], key: '"a"' });
  expect(facts.filter(({ kind }) => kind === "suppressed")).toEqual([
    {
      at: startedAt + 1,
      untilAt: startedAt + 3,
      kind: "suppressed",
      text: "Event AGAIN1 and those after it asked again 3 times: its key was taken, run 1 answered for it. One of them differed in data.total.",
    },
  ]);
});

test("a key's window is ahead while it is open, past once it ended, and given back when it was", () => {
  const runs = [caseRun({ run: { key: '"a"' } })];
  const last = (of: Claim) => told({ runs, key: '"a"', claim: of }).facts.at(-1)!;
  expect(last(claim())).toMatchObject({
    at: startedAt + 3_600_000,
    text: "The window of key a ends. Until then it is taken.",
  });
  expect(last(claim({ held: true })).text).toContain("and while its run is open.");
  expect(last(claim({ endsAt: startedAt + 1 }))).toMatchObject({
    at: startedAt + 1,
    text: "The window of key a ended.",
  });
  expect(last(claim({ state: "released" }))).toMatchObject({ at: null, text: "Key a is free: it was given back." });
  // By now it is another run's.
  expect(texts({ runs, key: '"a"', claim: claim({ holder: "RUN9" }) }).join()).not.toContain("window");
});

test("a run that was cancelled says by what, and is not said to be cancelled twice", () => {
  const result = JSON.stringify({ name: "Error", message: "cancelled by event EVENT9 (a/stop)" });
  const story = told({ runs: [caseRun({ run: { state: "cancelled", result } })] });
  expect(story.title).toBe("Run RUN1 was cancelled because of event EVENT9 (a/stop)");
  expect(story.facts.at(-1)!.text).toBe("Run 1 was cancelled by event EVENT9 (a/stop).");
});

test("as lines, a story has its verdict, gates, facts with times, runs and things to do, in this order", () => {
  const runs = [
    caseRun({ run: { endedAt: null, state: "waiting", result: null } }),
    caseRun({ number: 2, kind: "slipped", run: { createdAt: startedAt + 800, endedAt: null, state: "waiting" } }),
  ];
  const guess = { expression: "event.data.orderId", entity: "7" };
  expect(storyLines(told({ runs, guess }))).toEqual([
    "Order 7 ran twice because nothing marked its two events as the same.",
    "Two events came for one order. They had different ids, and the function has no key, so each started its own run, 0.8 s apart.",
    "Webhook: not in use. No webhook: the event was sent by code.",
    "Event id: let it through. Two ids, so two events.",
    "Function key: let it through. The function has no key.",
    "Destination key: let it through. No step was handed a key to send.",
    "2026-01-01T00:00:00.000Z  Event order-7 arrived: order/paid.",
    "2026-01-01T00:00:00.000Z  It started run 1 of charge. No key was claimed.",
    "2026-01-01T00:00:00.000Z  Event order-7 arrived: order/paid.",
    "2026-01-01T00:00:00.800Z  It started run 2, 0.8 s after run 1. This is the duplicate that slipped through.",
    "now  Both runs are waiting.",
    "Run 1 is RUN1, waiting.",
    "Run 2 is RUN2, waiting.",
    "1. Cancel run 2 before it does more.",
    "2. Give the function a key, so that it cannot happen again.",
    "3. Send others the step's key, as a second guard.",
  ]);
});
