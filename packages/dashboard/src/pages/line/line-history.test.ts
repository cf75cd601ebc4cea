import { expect, test } from "vitest";
import type { LineAnswer } from "./line-data.ts";
import { lengthBackwards } from "./line-history.ts";

const line = { waiting: 8 } as LineAnswer["line"];

test("a line's past is its present without what came, with what ended", () => {
  const minutes = [
    { at: 0, ended: 0, started: 0 },
    { at: 60_000, ended: 2, started: 12 },
    { at: 120_000, ended: 2, started: 0 },
  ];
  expect(lengthBackwards({ minutes, line })).toEqual([
    { at: 0, waiting: 0 },
    { at: 60_000, waiting: 0 },
    { at: 120_000, waiting: 10 },
    { at: 180_000, waiting: 8 },
  ]);
});

test("where what came was not counted, nothing is drawn", () => {
  expect(lengthBackwards({ minutes: [{ at: 0, ended: 1, started: null }], line })).toBeNull();
});
