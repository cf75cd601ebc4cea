// What reaches outside by others' packages: clients, providers' own SDKs, mail. Their programs load hundreds of modules for each process of a world, so
// only the schedules that tell are played here.
import { afterAll, describe, expect, test } from "vitest";
import { corpusPairs, openThreads, verifyProgram } from "./corpus.suite.ts";

const threads = openThreads(60_000);
afterAll(() => threads.close());

const telling = ["again-at-once", "die-before-effect:1", "lost-answer:1", "answer-500:1", "throw-after-effect:1"];

describe.each(corpusPairs("packages"))("$name", ({ faulty, mended, expected }) => {
  test("an effect that a package carries out is seen where the user's code asked for it, and doubled by a death", async () => {
    const { findings } = await verifyProgram(threads, faulty, { only: ["die-after-effect:1"] });
    expect(findings.map(({ verdict, place }) => ({ verdict, line: place?.line }))).toEqual([expected]);
  });

  test("with the key that its package takes it happens once", async () => {
    const only = [...telling, "die-after-effect:1", "zombie:1", "twin-after-end"];
    const { findings, effects } = await verifyProgram(threads, mended, { only });
    expect(findings).toEqual([]);
    expect(effects).toBe(1);
  });
});
