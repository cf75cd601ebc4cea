// Programs that cannot be judged end with a verdict all the same, and leave nothing behind.
import { expect, onTestFinished, test } from "vitest";
import { corpusProgram, openThreads, verifyProgram } from "./corpus.suite.ts";

function threadsFor(answerMsMax?: number) {
  const threads = openThreads(answerMsMax);
  onTestFinished(() => threads.close());
  return threads;
}

test("an endless loop ends with UNPROVEN, and its thread is gone", async () => {
  const threads = threadsFor(8_000);
  const { verdict, findings } = await verifyProgram(threads, corpusProgram("unproven/endless-loop.mjs"));
  expect(verdict).toBe("UNPROVEN");
  expect(findings[0]!.thing).toContain("endless loop");
  expect(threads.count).toBe(0);
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
