import { describe, expect, test } from "vitest";
import { destinationKeyWords, functionKeyWords } from "./rerun-words.ts";
import type { EffectItem } from "./run-data.ts";
import { entry, run } from "./timeline.suite.ts";

const effect = (given: Partial<EffectItem>): EffectItem => ({
  id: "e1",
  stepId: "id of draft",
  step: "draft",
  destination: "stripe",
  entity: "placement-7",
  key: "idem_1",
  isKeyed: true,
  state: "sent",
  receipt: "in_7",
  firstTriedAt: 0,
  tries: 1,
  settledAt: 1,
  settledBy: "answer",
  reason: null,
  ...given,
});

describe("a rerun with other data says before it is done", () => {
  test("what becomes of the function's key", () => {
    const of = { runKey: "7", dataKey: "7", holder: "run-1" };
    expect(functionKeyWords({ ...of, key: "same" })).toMatch(/the same key, 7\. .* answered with the new run\.$/);
    expect(functionKeyWords({ ...of, key: "other", dataKey: null })).toMatch(
      /gives no key, the run has key 7\. It is not rerun/,
    );
    expect(functionKeyWords({ ...of, key: "none" })).toMatch(/^The function has no key/);
  });

  test("what is not sent again, and which keys others may have forgotten", () => {
    const timeline = [
      entry({ name: "draft", kind: "effect", destinationKey: "idem_1" }),
      entry({ name: "mail", destinationKey: "idem_2", startedAt: 1_000 }),
      entry({ name: "nap", kind: "sleep", destinationKey: "idem_3" }),
    ];
    const day = 86_400_000;
    expect(destinationKeyWords(run({ timeline }), [effect({})], 3 * day + 1_000)).toEqual([
      "draft is not sent to stripe again: the new run gets in_7 as it was recorded, whatever the data says.",
      expect.stringMatching(
        /^Step mail hands on the same destination keys as the first time, 3 d ago\. .* forgotten does it again/,
      ),
    ]);
    expect(destinationKeyWords(run({}), [], 0)).toEqual(["It handed no destination key to anybody yet."]);
    expect(destinationKeyWords(run({}), [effect({ state: "unknown" })], 0)[0]).toMatch(
      /^Nobody knows what became of draft/,
    );
  });
});
