import { expect, test } from "vitest";
import { raiseWords } from "./raise-words.ts";

const line = {
  waiting: 500,
  oldestAt: 0,
  atWork: 2,
  endsPerMinute: 6,
  comePerMinute: 1,
  emptyInMs: null,
  behind: null,
};

test("what a raised limit would do goes on from the last minutes, and says so", () => {
  expect(raiseWords(line, 2, 20)).toBe(
    "About 60 would end a minute, now 6. The line would be empty in about 8 m, if the work itself has room for it.",
  );
  expect(raiseWords({ ...line, comePerMinute: 100 }, 2, 4)).toBe(
    "About 12 would end a minute, now 6. The line would still grow.",
  );
});

test("nothing is said where there is nothing to go on from", () => {
  expect(raiseWords({ ...line, endsPerMinute: 0 }, 2, 20)).toBeNull();
  expect(raiseWords({ ...line, waiting: 0 }, 2, 20)).toBeNull();
  expect(raiseWords(line, 2, 2)).toBeNull();
});
