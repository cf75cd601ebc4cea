// The siege in its short form: every kind once, by facts. The speed of answers is for `npm run proof -- abuse` on a machine of its own.
import { expect, test } from "vitest";
import { traffics } from "./honest.ts";
import { complaintsOf } from "./judge.ts";
import { kindNames, runSiege } from "./run-siege.ts";

test("nothing honest is refused while a server is attacked, and nothing is answered with an error of its own", async () => {
  const siege = await runSiege({ kinds: kindNames, sliceMs: 250, rounds: 1, runsBefore: 50, eventsBefore: 500 });
  expect(complaintsOf(siege)).toEqual([]);
  // They were there: an attack that never began proves nothing.
  for (const { kind, answers } of siege.slices) expect(Object.keys(answers), kind).not.toEqual([]);
  expect(new Set(siege.slices.flatMap(({ samples }) => samples.map(({ traffic }) => traffic))).size).toBe(
    traffics.length,
  );
}, 300_000);
