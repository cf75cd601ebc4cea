import { expect, test } from "vitest";
import { readSchedule, type Schedule, singles } from "../schedules.ts";
import { AppReports, type Report } from "./app-reports.ts";
import { appliesToApp } from "./applies.ts";
import { byLine } from "./control-messages.ts";

/** Which of an app's reports it dies around. */
function deaths(name: string, told: readonly Report[]): string[] {
  const happened: string[] = [];
  const schedule = readSchedule(name)!;
  const reports = new AppReports({ schedule, happened: ({ kind }) => void happened.push(kind) });
  let start = 1;
  const died = told.flatMap((report, i) =>
    (["before", "after"] as const).flatMap((side) => {
      if (reports.meet(report, side, start) === null) return [];
      start++;
      return `${side} ${i + 1}`;
    }),
  );
  return [...died, ...happened];
}

test("an app dies before the report that its schedule names arrives, or when it was taken, and nowhere else", () => {
  const told = ["steps", "event", "answer"] as const;
  expect(deaths("die-at-commit:2:before", told)).toEqual(["before 2", "die-at-commit"]);
  expect(deaths("die-at-commit:3:after", told)).toEqual(["after 3", "die-at-commit"]);
  expect(deaths("die-at-commit:4:after", told)).toEqual([]);
});

test("an app that dies twice dies before the same kind of report of its next process, and only then it has happened", () => {
  expect(deaths("die-twice-at-commit:1", ["steps", "answer", "steps", "steps"])).toEqual([
    "before 1",
    "before 3",
    "die-at-commit",
  ]);
});

test("an app is entered again after every report of steps", () => {
  expect(deaths("replay", ["steps", "event", "answer"])).toEqual(["after 1", "after 3", "replay", "replay"]);
});

test("every single adversity is played with an app but a step that is made to throw", () => {
  const facts: Parameters<typeof singles>[0] = {
    effectCount: 1,
    effectsInSteps: [1],
    effectsElsewhere: [1],
    commitCount: { before: 1, after: 1 },
    commitsOfCode: [1],
    steps: ["a"],
    hasWaits: true,
    isSent: true,
    hasKey: true,
    isUnkeyed: false,
    isBatched: false,
    otherNames: [],
    hasTwin: true,
    otherFields: [],
  };
  const left = singles(facts).filter((schedule: Schedule) => !appliesToApp(schedule));
  expect(left.map(({ id }) => id)).toEqual(["throw-after-effect:1"]);
});

test("a line of the control channel that is no JSON, or longer than a stranger may send, ends it and nothing else", () => {
  const taken: unknown[] = [];
  const stranger = () =>
    byLine(
      (message) => taken.push(message),
      () => 20,
    );
  expect(stranger()('{"kind":"hello"}\n{"ki')).toBe(true);
  expect(taken).toEqual([{ kind: "hello" }]);
  expect([stranger()("GET / HTTP/1.1\n"), stranger()("x".repeat(21)), stranger()(`"${"x".repeat(30)}"\n`)]).toEqual([
    false,
    false,
    false,
  ]);
  expect(taken).toHaveLength(1);
});
