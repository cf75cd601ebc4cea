import { expect, test } from "vitest";
import {
  countIn,
  durationAt,
  emptySketch,
  mergeSketches,
  readSketch,
  sketchError,
  sketchOf,
  sketchText,
} from "./duration-sketch.ts";

const within = (told: number | null, true_: number) => Math.abs(told! - true_) <= true_ * sketchError + 0.5;

test("what is read of a sketch is within its error, from a millisecond to years", () => {
  for (let ms = 1; ms < 1e11; ms = Math.ceil(ms * 1.37)) {
    expect(within(durationAt(sketchOf([ms]), 0.5), ms), String(ms)).toBe(true);
  }
  const many = Array.from({ length: 1_000 }, (_, i) => (i + 1) * 10);
  for (const share of [0, 0.5, 0.95, 0.99]) {
    expect(within(durationAt(sketchOf(many), share), many[Math.min(999, Math.floor(1_000 * share))]!)).toBe(true);
  }
});

test("sketches are added in any order, and kept as text without loss", () => {
  const [a, b] = [sketchOf([0, 1, 5, 5_000]), sketchOf([5, 80, 80])];
  const sum = mergeSketches([a, b]);
  expect(sketchText(sum)).toBe(sketchText(mergeSketches([b, a])));
  expect(sketchText(sum)).toBe(sketchText(sketchOf([0, 1, 5, 5_000, 5, 80, 80])));
  expect(sketchText(readSketch(sketchText(sum)))).toBe(sketchText(sum));
  expect(countIn(sum)).toBe(7);
  expect(durationAt(sum, 0)).toBe(0);
});

test("nothing has no length", () => {
  expect(durationAt(emptySketch, 0.5)).toBeNull();
  expect(readSketch("")).toEqual(emptySketch);
});
