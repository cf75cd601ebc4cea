// Programs that cannot be judged end with a verdict all the same, and leave nothing behind.
import { expect, onTestFinished, test } from "vitest";
import { corpusProgram, openThreads, verifyProgram } from "./corpus.suite.ts";

function threadsFor(answerMsMax?: number) {
  const threads = openThreads(answerMsMax);
  onTestFinished(() => threads.close());
  return threads;
}

test("an endless loop ends with UNPROVEN, and its thread is gone", async () => {
  const threads = threadsFor(2_000);
  const { verdict, findings } = await verifyProgram(threads, corpusProgram("unproven/endless-loop.mjs"));
  expect(verdict).toBe("UNPROVEN");
  expect(findings[0]!.thing).toContain("endless loop");
  expect(threads.count).toBe(0);
});

test("a clean run that fails says why", async () => {
  const { verdict, findings } = await verifyProgram(threadsFor(), corpusProgram("unproven/fails.mjs"));
  expect(verdict).toBe("UNPROVEN");
  expect(findings[0]!.thing).toBe("a clean run does not complete: NonRetriableError: no rate for EUR (fails.mjs:9)");
});

test("a step that waits for what never comes ends with UNPROVEN", async () => {
  const { verdict, findings } = await verifyProgram(threadsFor(), corpusProgram("unproven/hangs.mjs"));
  expect(verdict).toBe("UNPROVEN");
  expect(findings[0]!.thing).toContain("it hangs");
});

test("a socket that nobody watches is refused, and UNPROVEN by its name", async () => {
  const { verdict, findings } = await verifyProgram(threadsFor(), corpusProgram("unproven/socket.mjs"));
  expect(verdict).toBe("UNPROVEN");
  expect(findings[0]!.thing).toBe("a socket to 10.0.0.4:1433 was opened that is not watched");
});

test("a program that starts and sends while it is loaded opens no store of its own, and what it sent is no part of any world", async () => {
  const program = corpusProgram("unproven/sends-at-import.mjs");
  const { verdict, findings, effects } = await verifyProgram(threadsFor(), program);
  expect(findings).toEqual([]);
  expect({ verdict, effects }).toEqual({ verdict: "HELD", effects: 1 });
});

test("a function with a key of whose event no twin can be made is UNPROVEN, and told what to give", async () => {
  const threads = threadsFor();
  const program = corpusProgram("unproven/no-twin.mjs");
  const event = { name: "shop/refreshed", data: { depth: 3, shelves: "all" } };
  const { verdict, findings } = await verifyProgram(threads, program, { event });
  expect(verdict).toBe("UNPROVEN");
  expect(findings.map(({ thing }) => thing)).toEqual([expect.stringMatching(/no twin .*\(entity\).*\(twin\)/)]);
  const named = await verifyProgram(threads, program, { event, entity: "shelves" });
  const given = await verifyProgram(threads, program, { event, twin: { depth: 3, shelves: "upper" } });
  expect([named.verdict, given.verdict]).toEqual(["HELD", "HELD"]);
});

test("a death is no exception: nobody catches it, and no finally of the process that died is heard of", async () => {
  const program = corpusProgram("unproven/finally.mjs");
  const only = ["die-before-effect:1", "die-after-effect:1"];
  const { verdict, findings } = await verifyProgram(threadsFor(), program, { only });
  expect(findings).toEqual([]);
  expect(verdict).toBe("HELD");
});

test("a schedule that was asked for by its name and does not happen proves nothing: UNPROVEN, with why", async () => {
  const program = corpusProgram("no-key/mended.mjs");
  const only = [
    "die-after-effect:1",
    "die-after-effect:99",
    "rerun-from:absent",
    "wait-timeout",
    "lost-answer:1+zombie:7",
  ];
  const { verdict, findings, schedules } = await verifyProgram(threadsFor(), program, { only });
  expect(findings.map(({ thing, schedule }) => [schedule, thing])).toEqual([
    ["die-after-effect:99", "die-after-effect:99 did not happen: the function has 1 effect"],
    ["rerun-from:absent", 'rerun-from:absent did not happen: the function has no step "absent" that does something'],
    ["wait-timeout", "wait-timeout did not happen: the function waits for nothing"],
    ["lost-answer:1+zombie:7", "zombie:7 did not happen: the function has 1 effect"],
  ]);
  // Of the five worlds, that in which all of it happened.
  expect({ verdict, schedules }).toEqual({ verdict: "UNPROVEN", schedules: 1 });
});

test("a remembered schedule that no longer happens is neither counted nor kept", async () => {
  const remembered = [
    "die-after-effect:1",
    "die-after-effect:4",
    "no-such-schedule",
    "wait-timeout+die-after-effect:1",
  ];
  const { verdict, outdated, schedules } = await verifyProgram(threadsFor(), corpusProgram("no-key/mended.mjs"), {
    remembered,
    picks: () => false,
  });
  expect({ verdict, schedules, outdated }).toEqual({ verdict: "HELD", schedules: 1, outdated: remembered.slice(1) });
});

test("a schedule with waits in vain is compared with a clean run in vain, and one without with one that was answered", async () => {
  const only = ["die-after-effect:1", "wait-timeout+again-after-end"];
  const report = await verifyProgram(threadsFor(), corpusProgram("wait-then-charge/mended.mjs"), { only });
  expect(report.findings).toEqual([]);
  expect(report.schedules).toBe(2);
});

test("what goes wrong with a handler of failures is found again by its schedule's name", async () => {
  const threads = threadsFor();
  const program = corpusProgram("on-failure-unheard/faulty.mjs");
  const { findings } = await verifyProgram(threads, program, { picks: () => false });
  const told = findings.map(({ verdict, schedule, thing }) => ({ verdict, schedule, thing }));
  expect(told).toMatchObject([{ verdict: "HALF", schedule: expect.stringContaining("+") }]);
  const again = await verifyProgram(threads, program, { only: [told[0]!.schedule] });
  expect(again.findings).toMatchObject(told);
});

test("an awaited event that nobody can make is UNPROVEN by its name, and played once somebody gives its data", async () => {
  const threads = threadsFor();
  const program = corpusProgram("unproven/wait-for-lines.mjs");
  const { verdict, findings } = await verifyProgram(threads, program);
  expect(verdict).toBe("UNPROVEN");
  expect(findings.map(({ thing }) => thing)).toEqual([
    expect.stringMatching(
      /^the event crm\/approval\.given that step "approval" waits for with `if: .*could not be made.*waits:/,
    ),
  ]);
  const only = ["die-after-effect:1", "wait-twice", "twin-after-end"];
  const given = await verifyProgram(threads, program, { only, waits: { "crm/approval.*": { votes: ["ann", "bob"] } } });
  expect(given).toMatchObject({ verdict: "HELD", findings: [], effects: 1, schedules: 3 });
});

test("a field that nobody gave is UNPROVEN by its name, with the line that reads it; a fixture gives it", async () => {
  const threads = threadsFor();
  const program = corpusProgram("field-nobody-gave/faulty.mjs");
  const { findings } = await verifyProgram(threads, program);
  expect(findings).toMatchObject([
    {
      verdict: "UNPROVEN",
      thing: expect.stringMatching(/^the answer of GET crm\.example\/clients\/\* is read for `plan`/),
      place: { line: 14 },
    },
  ]);
  const given = { method: "GET", host: "crm.example", path: "/clients/*", body: { plan: "gold" } };
  const only = ["die-after-effect:1", "twin-after-end"];
  expect(await verifyProgram(threads, program, { only, fixtures: [given] })).toMatchObject({
    verdict: "HELD",
    schedules: 2,
  });
  // Its author knows: the destination has no such field.
  expect(await verifyProgram(threads, program, { only, fixtures: [{ ...given, body: {} }] })).toMatchObject({
    verdict: "HELD",
  });
});

test("the process that takes over dies before the same commit, too", async () => {
  const threads = threadsFor();
  const program = corpusProgram("no-key/faulty.mjs");
  const { findings, schedules } = await verifyProgram(threads, program, { only: ["die-twice-at-commit:2"] });
  const [{ thing, timeline } = { thing: "", timeline: [] }] = findings;
  expect({ thing, schedules }).toEqual({ thing: "three of api.stripe.com/v1/invoices", schedules: 1 });
  expect(timeline.filter(({ text }) => text.includes("died")).map(({ text }) => text)).toEqual([
    "the process died: before the commit of step",
    "the process died: again, before the commit of step",
  ]);
});
