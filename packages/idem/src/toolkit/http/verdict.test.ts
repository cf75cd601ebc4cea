import { expect, test } from "vitest";
import type { Verdict } from "./begin.ts";
import { verdictOf } from "./verdict.ts";

const judge = (status: number, facts: { isFailure?: boolean; hasEffects?: boolean } = {}, asked?: Verdict) =>
  verdictOf({ status, attempt: 1, isFailure: false, hasEffects: true, ...facts }, () => asked).verdict;

test.each([200, 201, 204, 302, 304, 400, 402, 404, 405, 410, 418, 422])("%i is stored", (status) => {
  expect(judge(status)).toBe("store");
});

test.each([401, 403, 408, 409, 423, 425, 429])("%i is released: another time it may be another answer", (status) => {
  expect(judge(status)).toBe("release");
});

test("a failure after effects is stored, and one before them released", () => {
  expect(judge(500)).toBe("store");
  expect(judge(503)).toBe("store");
  expect(judge(500, { hasEffects: false })).toBe("release");
  expect(judge(200, { isFailure: true })).toBe("store");
});

test("a success is stored whatever the route says", () => {
  expect(judge(201, {}, "release")).toBe("store");
});

test("a refusal goes by what the route says", () => {
  expect(judge(404, {}, "release")).toBe("release");
  expect(judge(429, {}, "store")).toBe("store");
});

test("a failure after effects can be left to go on or parked, and never released", () => {
  expect(judge(500, {}, "resume")).toBe("resume");
  expect(judge(500, {}, "park")).toBe("park");
  expect(verdictOf({ status: 500, attempt: 1, isFailure: true, hasEffects: true }, () => "release")).toEqual({
    verdict: "store",
    isRefused: true,
  });
});
