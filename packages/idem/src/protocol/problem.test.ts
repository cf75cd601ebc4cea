import { expect, test } from "vitest";
import { type ErrorCode, errors, errorTable } from "../model/errors.ts";
import { problemOf, statusOf, wireErrorOf } from "./problem.ts";

const codes = Object.keys(errorTable) as ErrorCode[];

test("only a defect of the server itself is 500, and what helps later is never called the caller's mistake", () => {
  expect(codes.filter((code) => statusOf(code) === 500)).toEqual(["SERVER_FAILED"]);
  const blamed = codes.filter((code) => errorTable[code].retry === "later" && statusOf(code) === 400);
  expect(blamed).toEqual(["REPLY_INVALID"]);
});

// Here nobody knows what became of something that is known, or what a word of the request means.
const isOutcome = (code: string): boolean => /^(COMMIT|OUTCOME|OPTION)_/.test(code);

test("what is unknown is 404", () => {
  for (const code of codes.filter((each) => each.endsWith("_UNKNOWN") && !isOutcome(each)))
    expect([code, statusOf(code)]).toEqual([code, 404]);
});

test("a problem says what happened and what to do apart, the wire says both in one text", () => {
  const error = errors.RUN_UNKNOWN({ runId: "r1" });
  expect(problemOf(error)).toEqual({
    type: "/docs/errors/RUN_UNKNOWN",
    title: "Run unknown",
    status: 404,
    detail: "There is no run r1 in this environment",
    code: "RUN_UNKNOWN",
    next: error.next,
  });
  expect(wireErrorOf(error)).toEqual({ error: error.message, status: 404, code: "RUN_UNKNOWN" });
});
