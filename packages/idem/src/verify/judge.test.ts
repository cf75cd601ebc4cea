// The table of docs/verify.md, row by row, in its order.
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { describe, expect, test } from "vitest";
import { type Judged, judge, type Reference, worstOf } from "./judge.ts";
import type { SeenEffect, Thing, WorldRecord } from "./thing.ts";

const invoice = (placement: string, effect = 1, by = "corpus-draft"): Thing => ({
  watcher: "http",
  destination: "api.stripe.com",
  path: ["v1", "invoices"],
  isAddressed: false,
  state: { placement },
  by,
  effect,
  made: [],
});

const mail = (effect = 2): Thing => ({ ...invoice("7", effect), destination: "api.resend.com", path: ["emails"] });
const record = (state: string): Thing => ({
  ...invoice("7"),
  path: ["placements", "7"],
  isAddressed: true,
  state: { state },
});

const effect = (index: number, rest: Partial<SeenEffect> = {}): SeenEffect => ({
  index,
  watcher: "http",
  title: "POST api.stripe.com/v1/invoices",
  at: 0,
  life: 1,
  fn: "corpus-draft",
  runId: "run",
  step: "create-invoice",
  isLate: false,
  place: { file: "/program.mjs", line: 12, column: 1 },
  key: null,
  isForgotten: false,
  became: "happened",
  ...rest,
});

const run = (state: string) => ({ id: "run", fn: "corpus-draft", state, error: null, isRerun: false });

const world = (schedule: string, things: readonly Thing[], rest: Partial<WorldRecord> = {}): WorldRecord => ({
  schedule,
  seed: 1,
  notHappened: [],
  runs: [run("completed")],
  wasRerun: false,
  isPastWindow: false,
  isOpen: false,
  parked: [],
  things,
  effects: [effect(1), effect(2)],
  sent: [],
  madeIds: [],
  commits: { before: 1, after: 1 },
  commitsOfCode: [1],
  steps: ["create-invoice"],
  hasWaits: false,
  divergences: [],
  unproven: [],
  absent: [],
  assumptions: [],
  drawn: [],
  timeline: [],
  lifeCount: 1,
  tookMs: 1,
  ...rest,
});

const reference = (things: readonly Thing[], rest: Partial<Reference> = {}): Reference => ({
  clean: world("clean", things),
  twin: null,
  volatile: { isVolatile: () => false, pointers: [] },
  endHandlers: [],
  ...rest,
});

const one = reference([invoice("7")]);
const both = reference([invoice("7"), mail()]);
const twins = reference([invoice("7")], { twin: world("clean", [invoice("8")]) });
const doubled = [invoice("7"), invoice("7", 2)];

interface Row {
  /** As the page has it: adversity, ended, outside. */
  readonly row: readonly [string, string, string];
  readonly cases: readonly (readonly [world: WorldRecord, reference: Reference, Judged["verdict"], about: RegExp])[];
}

const rows: readonly Row[] = [
  {
    row: ["any in which code is entered again", "any", "a replay asked for other steps than were recorded"],
    cases: [
      [
        world("replay", doubled, { divergences: [{ step: "a", asked: "b" }], unproven: ["x"] }),
        one,
        "DIVERGED",
        /step "a"/,
      ],
      [world("replay", [], { divergences: [{ step: "a", asked: null }], isOpen: true }), one, "DIVERGED", /nothing/],
    ],
  },
  {
    row: ["any", "any", "something that reached outside could not be watched, fed or told to a world"],
    cases: [[world("rerun", doubled, { unproven: ["a socket"] }), one, "UNPROVEN", /^a socket$/]],
  },
  {
    row: ["any", "open", "any"],
    cases: [
      [world("rerun", doubled, { isOpen: true }), one, "UNPROVEN", /does not come to its end/],
      [world("rerun", [], { runs: [] }), one, "UNPROVEN", /started no run/],
    ],
  },
  {
    row: ["the key's window is over", "any", "more, other"],
    cases: [[world("after-window-end", doubled, { isPastWindow: true }), one, "HELD", /after the key's window/]],
  },
  {
    row: ["the process was away for longer than the destination remembers a key", "any", "more, other"],
    cases: [
      [
        world("outage:1", doubled, { effects: [effect(1), effect(2, { isForgotten: true })] }),
        one,
        "HELD",
        /step\.effect/,
      ],
      // It never carried a key: nothing was forgotten.
      [world("outage:1", doubled), one, "DOUBLED", /two of/],
      // The function's own sleeps outlast the memory.
      [world("replay", doubled, { effects: [effect(1), effect(2, { isForgotten: true })] }), one, "DOUBLED", /two of/],
    ],
  },
  {
    row: ["another id, another name", "any", "more, other, and the function says `idempotency: { none }`"],
    // schedules.test.ts: "a function that says why it has no key is not sent the same data under another id".
    cases: [],
  },
  {
    row: ["a field that is not the entity's was changed", "any", "the second event started nothing"],
    cases: [
      [world("other-field:email", [invoice("7")]), one, "HELD", /another email starts nothing/],
      [world("other-field:email", doubled), one, "HELD", /^$/],
    ],
  },
  {
    row: ["any other", "any", "more, other"],
    cases: [
      [world("die-after-effect:1", doubled), one, "DOUBLED", /^two of api\.stripe\.com\/v1\/invoices$/],
      [world("other-id-after-end", doubled), one, "DOUBLED", /two of/],
      [world("always-500:1", doubled, { wasRerun: true, runs: [run("failed")] }), one, "DOUBLED", /two of/],
      [world("zombie:1", [record("draft")]), reference([record("sent")]), "DOUBLED", /another state/],
      [world("rerun", [invoice("7"), mail()]), one, "DOUBLED", /which a clean run does not make/],
    ],
  },
  {
    row: ["twin", "any", "nothing of one of the two events"],
    cases: [
      [world("twin-after-end", [invoice("7")]), twins, "LOST", /another entity/],
      [world("twin-after-end", [invoice("7"), invoice("8")]), twins, "HELD", /^$/],
    ],
  },
  {
    row: ["any", "parked", "less"],
    cases: [
      [world("die-after-effect:1", [], { runs: [run("parked")] }), one, "HELD", /parked for a person/],
      // step.effect: its run fails, and once more when it is rerun without a word about the effect.
      [
        world("outage:1", [invoice("7")], { runs: [run("failed")], wasRerun: true, parked: ["slack:placement-7:k"] }),
        both,
        "HELD",
        /parked for a person, who says what becomes of api\.resend\.com\/emails/,
      ],
      [
        world("outage:1", doubled, { runs: [run("failed")], parked: ["slack:placement-7:k"] }),
        one,
        "DOUBLED",
        /two of/,
      ],
    ],
  },
  {
    row: ["any", "completed", "less: nothing of what a clean run makes is there"],
    cases: [[world("die-before-effect:1", []), one, "LOST", /nothing makes up for it/]],
  },
  {
    row: ["any", "completed, or failed and rerun", "less"],
    cases: [
      [world("answer-500:2", [invoice("7")]), both, "HALF", /api\.resend\.com\/emails is missing for good/],
      [world("always-500:1", [], { wasRerun: true }), one, "HALF", /missing for good/],
    ],
  },
  {
    row: ["any", "failed, and rerun", "same"],
    cases: [[world("always-500:1", [invoice("7")], { wasRerun: true }), one, "HELD", /failed loudly/]],
  },
  {
    row: ["any", "completed", "same"],
    cases: [[world("rerun", [invoice("7")]), one, "HELD", /^$/]],
  },
];

describe.each(rows.filter(({ cases }) => cases.length > 0))("$row", ({ cases }) => {
  test.each(
    cases.map(([seen, against, verdict, about]) => ({ schedule: seen.schedule, seen, against, verdict, about })),
  )("$schedule is $verdict, $about", ({ seen, against, verdict, about }) => {
    const judged = judge(seen, against);
    expect(judged.verdict).toBe(verdict);
    expect(verdict === "HELD" ? judged.notes.join("\n") : judged.thing).toMatch(about);
  });
});

test("the rows of the page are these, in this order", () => {
  const page = join(dirname(fileURLToPath(import.meta.url)), "..", "..", "..", "..", "docs", "verify.md");
  const table = /^\| adversity \| ended \| outside \| verdict \|\n\|[- |]+\|\n((?:\|.*\n)+)/m.exec(
    readFileSync(page, "utf8"),
  )![1]!;
  const written = table
    .trim()
    .split("\n")
    .map((line) =>
      line
        .split("|")
        .slice(1, 4)
        .map((cell) => cell.trim()),
    );
  expect(written).toEqual(rows.map(({ row }) => row));
});

test("of several verdicts a function has the worst, and HELD with none", () => {
  expect(worstOf(["HELD", "UNPROVEN", "LOST", "DOUBLED"])).toBe("DOUBLED");
  expect(worstOf(["UNPROVEN", "ACCEPTED"])).toBe("UNPROVEN");
  expect(worstOf([])).toBe("HELD");
});

test("what a handler of failures makes is expected once for each failed run", () => {
  const handled = reference([invoice("7")], { endHandlers: ["corpus-on-failure"] });
  const told = (effectIndex: number) => ({ ...mail(effectIndex), by: "corpus-on-failure" });
  const failed = { wasRerun: true, runs: [run("failed"), run("completed")] };
  expect(judge(world("always-500:1", [invoice("7"), told(1)], failed), handled).verdict).toBe("HELD");
  expect(judge(world("always-500:1", [invoice("7"), told(1), told(2)], failed), handled).verdict).toBe("DOUBLED");
});
