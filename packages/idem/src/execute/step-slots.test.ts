// The line of one pass, against a store that gives what it likes: whatever comes in whatever order, no more bodies are at work than the store
// knows of, and everyone gets in.
import { expect, test } from "vitest";
import { StepSlots } from "./step-slots.ts";

/** mulberry32 */
function chanceOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

interface Commit {
  readonly said: { readonly keep: number; readonly want: number } | undefined;
  readonly ending: number;
}

function live(seed: number) {
  const chance = chanceOf(seed);
  const turns: (() => void)[] = [];
  const freed = new Set<() => void>();
  let [working, entered, ending, queued, held] = [0, 0, 0, 0, 0];
  const wrong: string[] = [];
  /** The one on its way. */
  let under: Commit | null = null;
  const slots: StepSlots = new StepSlots({
    port: {
      isNew: true,
      nextTurn: () => 1,
      gaveBack: () => {},
      whenFreed: (run) => {
        freed.add(run);
        return () => freed.delete(run);
      },
    },
    soon: (run) => turns.push(run),
    timer: (_ms, run) => {
      freed.add(run);
      return { cancel: () => freed.delete(run) };
    },
    commit: () => {
      queued++;
    },
    mayBegin: () => true,
  });
  const look = () => {
    if (working > 1 + held) wrong.push(`${working} at work, the store knows of ${1 + held}`);
  };
  const send = () => {
    if (under !== null || (queued === 0 && ending === 0)) return;
    under = { said: slots.said(), ending };
    [queued, ending] = [0, 0];
  };
  const answer = () => {
    if (under === null) return;
    const { said, ending: ended } = under;
    if (said !== undefined) {
      held = said.keep > held ? held : said.keep + chance(said.want - said.keep + 1);
      slots.answered(held);
    }
    look();
    slots.admit();
    for (let i = 0; i < ended; i++) slots.leave();
    under = null;
  };
  const enter = () => {
    entered++;
    slots.enter(() => {
      working++;
      look();
    });
  };
  /** A body ends: its outcome goes with the next commit, or was committed by itself. */
  const end = (isCommitted: boolean) => {
    if (working === 0) return;
    working--;
    if (isCommitted) slots.leave();
    else {
      slots.bodyIsOver();
      ending++;
    }
  };
  const turn = () => turns.shift()?.();
  const tell = () => {
    for (const run of [...freed]) run();
  };
  const moves = [
    enter,
    enter,
    () => end(false),
    () => end(false),
    () => end(true),
    send,
    send,
    answer,
    answer,
    turn,
    turn,
    tell,
  ];
  for (let i = 0; i < 400; i++) moves[i < 300 ? chance(moves.length) : 2 + chance(moves.length - 2)]!();
  for (let i = 0; i < 2_000; i++) for (const move of [turn, send, answer, () => end(false), tell]) move();
  return { wrong, working, entered, held, isWaitedFor: slots.isWaitedFor };
}

test("whatever order steps, commits and answers come in, no more are at work than the store knows of, and none is left in line", () => {
  for (let seed = 1; seed <= 60; seed++) {
    const { wrong, working, held, isWaitedFor } = live(seed);
    expect({ seed, wrong, working, held, isWaitedFor }).toEqual({
      seed,
      wrong: [],
      working: 0,
      held: 0,
      isWaitedFor: false,
    });
  }
});
