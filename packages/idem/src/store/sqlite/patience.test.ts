import { expect, test } from "vitest";
import { Patience, type Spell } from "./patience.ts";

const locked = { kind: "locked", why: "database is locked" } as const;

function watched(): { readonly patience: Patience; readonly told: Spell[] } {
  const told: Spell[] = [];
  return {
    patience: new Patience({ waitMsMax: 5_000, tellAfterMs: 2_000, tell: (spell) => void told.push(spell) }),
    told,
  };
}

/** Refused from this instant on, tried again whenever it says; when it gave up. */
function waitFrom(patience: Patience, from: number): { readonly gaveUpAt: number; readonly tries: number } {
  let tries = 1;
  for (let now = from; ; tries++) {
    const pauseMs = patience.pauseAfter(locked, now);
    if (pauseMs === null) return { gaveUpAt: now, tries };
    expect(pauseMs).toBeGreaterThan(0);
    now += pauseMs;
  }
}

test("a batch waits for five seconds and no longer, looking often at first and four times a second later", () => {
  const { patience } = watched();
  const { gaveUpAt, tries } = waitFrom(patience, 100);
  expect(gaveUpAt).toBe(5_100);
  expect(tries).toBeGreaterThan(20);
  expect(tries).toBeLessThan(40);
});

test("whoever asks in a spell that has lasted that long is answered at the first try, until something was committed", () => {
  const { patience } = watched();
  waitFrom(patience, 0);
  expect(waitFrom(patience, 60_000)).toEqual({ gaveUpAt: 60_000, tries: 1 });
  patience.noteCommit(1, 61_000);
  expect(waitFrom(patience, 62_000).gaveUpAt).toBe(67_000);
});

test("a spell is told once when it has lasted two seconds, and once when it is over; a short one is not told", () => {
  const { patience, told } = watched();
  patience.pauseAfter(locked, 0);
  patience.noteCommit(1, 1_900);
  expect(told).toEqual([]);
  waitFrom(patience, 10_000);
  waitFrom(patience, 20_000);
  patience.noteCommit(1, 21_000);
  patience.noteCommit(1, 22_000);
  expect(told.map(({ kind }) => kind)).toEqual(["locked", "over"]);
  expect(told[1]).toEqual({ kind: "over", was: "locked", forMs: 11_000 });
});

test("commits that take seconds are told once, and once when they are quick again", () => {
  const { patience, told } = watched();
  for (const [tookMs, now] of [
    [3, 0],
    [2_500, 3_000],
    [2_600, 6_000],
    [4, 7_000],
    [4, 8_000],
  ] as const)
    patience.noteCommit(tookMs, now);
  expect(told).toEqual([
    { kind: "slow", forMs: 2_500 },
    { kind: "over", was: "slow", forMs: 6_500 },
  ]);
});
