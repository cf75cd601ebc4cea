// The order of entry: strangers a few at a time, however many arrive together.
import { expect, test } from "vitest";
import { Entrance, StrangerTurns } from "./entrance.ts";

/** A loop whose turns are taken by hand. */
function opened(perTurn = 3) {
  let planned: (() => void)[] = [];
  const soon = (run: () => void) => void planned.push(run);
  const clock = { now: 0 };
  const entrance = new Entrance(() => clock.now, 5);
  const made = new StrangerTurns({ perTurn, perTurnWhileOpening: 1, entrance, soon });
  const turn = () => {
    const now = planned;
    planned = [];
    for (const run of now) run();
    return now.length > 0;
  };
  return { strangers: made, entrance, turn, clock };
}

test("of strangers' requests that arrive together so many begin in each turn of the loop, in the order they came", () => {
  const { strangers: at, turn } = opened();
  const begun: number[] = [];
  for (let n = 0; n < 8; n++) at.enter(() => begun.push(n));
  expect([begun, at.size]).toEqual([[0, 1, 2], 5]);
  turn();
  // Newcomers stand behind those who wait.
  at.enter(() => begun.push(8));
  expect(begun).toEqual([0, 1, 2, 3, 4, 5]);
  while (turn());
  expect([begun, at.size]).toEqual([[0, 1, 2, 3, 4, 5, 6, 7, 8], 0]);
});

test("a stranger who comes alone begins at once, turn after turn", () => {
  const { strangers: at, turn } = opened(1);
  let begun = 0;
  for (let n = 1; n <= 5; n++) {
    at.enter(() => begun++);
    expect(begun).toBe(n);
    turn();
  }
});

test("while lines are being opened fewer begin, so that whoever waits to be accepted is", () => {
  const { strangers: at, entrance, turn } = opened();
  let begun = 0;
  for (let n = 0; n < 10; n++) at.enter(() => begun++);
  entrance.lineOpened();
  turn();
  expect(begun).toBe(4);
  turn();
  expect(begun).toBe(7);
});

test("what is much gives way while lines are being opened, but not for ever", () => {
  const { entrance, clock } = opened();
  const mayBegin = entrance.givingWay();
  const other = entrance.givingWay();
  expect([mayBegin(), mayBegin()]).toEqual([true, true]);
  for (clock.now = 1; clock.now < 6; clock.now++) {
    entrance.lineOpened();
    expect(mayBegin()).toBe(false);
  }
  entrance.lineOpened();
  expect(mayBegin()).toBe(true);
  entrance.lineOpened();
  expect(mayBegin()).toBe(false);
  expect(mayBegin()).toBe(true);
  // Each gives way for itself.
  expect([other(), other()]).toEqual([false, true]);
});
