// Metadata of runs and steps is merged by kind, kept with the run and bounded.
import { describe, expect, test } from "vitest";
import type { MetadataChange } from "../../model/metadata.ts";
import { env, everyWrite, newEvent, type OpenStore, openWorld, startPair, type World } from "./world.ts";

const change = (over: Partial<MetadataChange> = {}): MetadataChange => ({
  stepId: "",
  kind: "userland.default",
  op: "merge",
  value: '{"a":1}',
  ...over,
});

const started = async (world: World) => {
  await world.ingest([newEvent("e1")], [startPair("r1")]);
  return {
    say: (...changes: MetadataChange[]) => world.store.annotate({ env, runId: "r1", changes }),
    kept: async () => (await world.store.reads.metadata(env, "r1")).map(({ changedAt: _, ...row }) => row),
  };
};

export function metadataSuite(open: OpenStore): void {
  describe("metadata", () => {
    test("is merged field by field within its step and kind, or put in its place", async () => {
      const { say, kept } = await started(await openWorld(open));
      await say(change(), change({ stepId: "s1", value: '{"x":1}' }), change({ kind: "inngest.score" }));
      await say(change({ value: '{"a":2,"b":{"c":3}}' }), change({ stepId: "s1", op: "set", value: '{"y":2}' }));
      expect(await kept()).toEqual([
        { stepId: "", kind: "inngest.score", value: '{"a":1}' },
        { stepId: "", kind: "userland.default", value: '{"a":2,"b":{"c":3}}' },
        { stepId: "s1", kind: "userland.default", value: '{"y":2}' },
      ]);
    });

    test("of a run that nobody knows is refused, and one of many that came at once is not lost", async () => {
      const world = await openWorld(open);
      const { say, kept } = await started(world);
      expect(await world.store.annotate({ env, runId: "nobody", changes: [change()] })).toEqual({ kind: "unknown" });
      await Promise.all([1, 2, 3, 4].map((n) => say(change({ value: `{"n${n}":${n}}` }))));
      const [row] = await kept();
      expect(JSON.parse(row!.value)).toEqual({ n1: 1, n2: 2, n3: 3, n4: 4 });
    });

    test("beyond 64 KiB of a kind, or 1 MiB of a run, is refused whole", async () => {
      const { say, kept } = await started(await openWorld(open));
      const large = JSON.stringify({ text: "x".repeat(60_000) });
      expect(
        await say(change(), change({ kind: "k", value: JSON.stringify({ text: "x".repeat(66_000) }) })),
      ).toMatchObject({ kind: "too-large", max: 65_536 });
      expect(await kept()).toEqual([]);
      for (let n = 0; n < 17; n++)
        expect(await say(change({ stepId: `s${n}`, value: large }))).toEqual({ kind: "annotated" });
      expect(await say(change({ stepId: "one more", value: large }))).toMatchObject({
        kind: "too-large",
        max: 1_048_576,
      });
      expect(await say(change({ stepId: "s1", op: "set", value: "{}" }))).toEqual({ kind: "annotated" });
    });

    everyWrite(open, "annotate", async (world) => {
      const { say } = await started(world);
      return () => say(change(), change({ stepId: "s1", op: "set" }));
    });
  });
}
