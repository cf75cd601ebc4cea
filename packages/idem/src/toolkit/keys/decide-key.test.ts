// The transition table, row by row, for the part a claim decides.
import { describe, expect, test } from "vitest";
import { decideKey } from "./decide-key.ts";
import type { KeyRow } from "./key-row.ts";
import type { KeyAsk, OnCrash } from "./key-store.ts";

const now = 1_000_000;
const mine = { version: 1, value: "a".repeat(64) };
const other = { version: 1, value: "b".repeat(64) };
const response = { kind: "response", status: 201, headers: [], body: null } as const;

const running: KeyRow = {
  id: "f".repeat(64),
  about: { namespace: "", tenant: null, principal: "p", method: "POST", path: "/", hint: "ffffffff" },
  fingerprint: mine,
  state: "running",
  owner: "first",
  fence: 3,
  attempts: 2,
  onCrash: "rerun",
  leaseUntil: now + 1,
  dueAt: now,
  point: { name: "charged", data: "1" },
  work: null,
  outcome: null,
  parkedReason: null,
  createdAt: now - 500,
  completedAt: null,
  endsAt: now + 1,
};
const dead: KeyRow = { ...running, leaseUntil: now };
const left: KeyRow = { ...running, leaseUntil: 0 };
const completed: KeyRow = {
  ...running,
  state: "completed",
  outcome: response,
  completedAt: now - 100,
  leaseUntil: now - 1,
};
const gone: KeyRow = { ...completed, outcome: { kind: "gone", status: 200, reason: "too large" } };
const parked: KeyRow = { ...running, state: "parked", parkedReason: "why", leaseUntil: now - 1 };
const ended = (row: KeyRow): KeyRow => ({ ...row, endsAt: now });

const ask = (onCrash: OnCrash, fingerprint = mine): Pick<KeyAsk, "owner" | "fingerprints" | "onCrash"> => ({
  owner: "second",
  onCrash,
  fingerprints: [fingerprint],
});

/** Answers by their kind, moves by theirs. */
const decided = (row: KeyRow, asked: ReturnType<typeof ask>): string => {
  const move = decideKey(asked, row, now);
  return move.kind === "answer" ? move.answer.kind : move.kind;
};

const anyCrash = ["resume", "rerun", "park"] as const;

describe("with the same fingerprint", () => {
  test.each<[string, KeyRow, readonly OnCrash[], string]>([
    ["T2, T3: running, lease alive", running, anyCrash, "in-flight"],
    ["T5: lease dead", dead, ["resume"], "resume"],
    ["T6: lease dead", dead, ["rerun"], "rerun"],
    ["T7: lease dead", dead, ["park"], "park"],
    [
      "T5-T7 past the window: nothing was finished, so the author's choice still counts",
      ended(dead),
      ["resume"],
      "resume",
    ],
    ["T6 past the window", ended(dead), ["rerun"], "rerun"],
    ["T7 past the window", ended(dead), ["park"], "park"],
    ["T12, T23: given back, nobody died", left, anyCrash, "resume"],
    ["T17: completed", completed, anyCrash, "duplicate"],
    ["T18: completed, and cannot be told again", gone, anyCrash, "duplicate"],
    ["T19: completed, past its window", ended(completed), anyCrash, "overwrite"],
    ["T19: gone, past its window", ended(gone), anyCrash, "overwrite"],
    ["T21: parked", parked, anyCrash, "parked"],
    ["T21: parked, past its window", ended(parked), anyCrash, "parked"],
  ])("%s", (_, row, choices, expected) => {
    for (const onCrash of choices) expect(decided(row, ask(onCrash)), onCrash).toBe(expected);
  });
});

describe("with another fingerprint", () => {
  test.each<[string, KeyRow, readonly OnCrash[], string]>([
    ["T4: running, lease alive", running, anyCrash, "mismatch"],
    ["T4: lease alive, past the window", ended(running), anyCrash, "mismatch"],
    ["T4: lease dead", dead, anyCrash, "mismatch"],
    ["T4: given back", left, anyCrash, "mismatch"],
    ["T4: completed", completed, anyCrash, "mismatch"],
    ["T4: parked", parked, anyCrash, "mismatch"],
    ["T4: parked, past its window", ended(parked), anyCrash, "mismatch"],
    ["T4: dead, past its window, where it was to resume or park", ended(dead), ["resume", "park"], "mismatch"],
    ["T4: the same, by the record's own choice", ended({ ...dead, onCrash: "park" }), anyCrash, "mismatch"],
    ["T4: work a completer goes on with", ended({ ...dead, work: { name: "w", input: "1" } }), anyCrash, "mismatch"],
    ["T19: completed, past its window", ended(completed), anyCrash, "overwrite"],
    ["T19: dead, past its window, and both may rerun", ended(dead), ["rerun"], "overwrite"],
  ])("%s", (_, row, choices, expected) => {
    for (const onCrash of choices) expect(decided(row, ask(onCrash, other)), onCrash).toBe(expected);
  });

  test("one that is shorter, longer or of an unknown version is another one", () => {
    for (const value of ["", "a", "a".repeat(65)])
      expect(decided(completed, ask("rerun", { version: 1, value }))).toBe("mismatch");
    expect(decided(completed, ask("rerun", { ...mine, version: 2 }))).toBe("mismatch");
  });

  test("the one of the record's version counts, wherever it stands", () => {
    const asked = { ...ask("rerun"), fingerprints: [{ ...other, version: 2 }, mine] as const };
    expect(decided(completed, asked)).toBe("duplicate");
    expect(decided(completed, { ...asked, fingerprints: [{ ...mine, version: 2 }, other] })).toBe("mismatch");
  });
});

describe("by the owner itself", () => {
  const own = { ...ask("park"), owner: "first" };

  test("T1 again, after a lost answer: the same claim", () => {
    expect(decideKey(own, running, now)).toEqual({
      kind: "answer",
      answer: { kind: "fresh", fence: 3, attempt: 2, point: running.point },
    });
  });

  test("its own dead lease is a dead lease", () => {
    expect(decided(dead, own)).toBe("park");
    expect(decided(dead, { ...own, onCrash: "rerun" })).toBe("rerun");
  });

  test("what it completed is a duplicate, what it parked is parked", () => {
    expect(decided(completed, own)).toBe("duplicate");
    expect(decided(parked, own)).toBe("parked");
  });
});

test("a state nobody knows is no licence to execute", () => {
  const odd = { ...running, state: "paused" } as unknown as KeyRow;
  expect(() => decideKey(ask("rerun"), odd, now)).toThrow(/does not know/);
});

test("an answer tells ages by the database's time, never below zero", () => {
  const answers = [running, parked].map((row) => decideKey(ask("rerun"), row, now));
  expect(answers).toMatchObject([
    { answer: { since: now - 500, leaseLeftMs: 1, ageMs: 500 } },
    { answer: { reason: "why", ageMs: 500 } },
  ]);
  expect(decideKey(ask("rerun"), { ...running, createdAt: now + 9 }, now)).toMatchObject({ answer: { ageMs: 0 } });
});
