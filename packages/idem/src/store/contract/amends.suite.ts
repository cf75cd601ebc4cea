// A claim written over the one a decision was made upon: only if nobody wrote meanwhile.
import { describe, expect, test } from "vitest";
import type { ClaimChange } from "../../model/amend-claim.ts";
import type { Claim } from "../../model/claim.ts";
import { dayMs } from "../../model/window.ts";
import type { Store } from "../store.ts";
import { env, everyWrite, type OpenStore, openWorld } from "./world.ts";

const scope = "http";
const key = "k";

const change = (over: Partial<ClaimChange> = {}): ClaimChange => ({
  holder: "a",
  fence: 1,
  state: "in-flight",
  fingerprint: "1:f",
  leaseMs: 1_000,
  windowMs: dayMs,
  held: false,
  outcome: "note",
  opens: true,
  ...over,
});

const amend = (store: Store, over: Claim | null, to: ClaimChange | null, reason: string | null = null) =>
  store.amend({ env, scope, key, over, to, reason });

const begin = async (store: Store, over: Partial<ClaimChange> = {}): Promise<Claim> => {
  expect(await amend(store, null, change(over))).toBe("amended");
  return (await store.reads.claim(env, scope, key))!;
};

export function amendsSuite(open: OpenStore): void {
  describe("amended claims", () => {
    test("over nothing a claim is opened, with times from now on", async () => {
      const { store, clock } = await openWorld(open);
      expect(await begin(store)).toEqual({
        scope,
        key,
        holder: "a",
        fence: 1,
        generation: "a",
        state: "in-flight",
        fingerprint: "1:f",
        takenAt: clock.wallMs(),
        leaseUntil: clock.wallMs() + 1_000,
        endsAt: clock.wallMs() + dayMs,
        held: false,
        asked: 1,
        lastAskedAt: clock.wallMs(),
        outcome: "note",
      });
    });

    test("of eight who amend the same claim at once one does, and seven learn that it moved", async () => {
      const { store } = await openWorld(open);
      const atOnce = (over: Claim | null, fence: number) =>
        Promise.all(Array.from({ length: 8 }, (_, n) => amend(store, over, change({ holder: `h${n}`, fence }))));
      const expected = ["amended", ...Array.from({ length: 7 }, () => "moved")];
      expect((await atOnce(null, 1)).sort()).toEqual(expected);
      const first = await store.reads.claim(env, scope, key);
      expect((await atOnce(first, 2)).sort()).toEqual(expected);
      expect(await store.reads.claim(env, scope, key)).toMatchObject({ fence: 2 });
    });

    test("a claim that changes hands keeps its window's name and beginning, and is asked once more", async () => {
      const { store, clock } = await openWorld(open);
      const first = await begin(store);
      clock.advance(1_000);
      await amend(store, first, change({ holder: "b", fence: 2, windowMs: null, opens: false }));
      expect(await store.reads.claim(env, scope, key)).toEqual({
        ...first,
        holder: "b",
        fence: 2,
        leaseUntil: clock.wallMs() + 1_000,
        asked: 2,
        lastAskedAt: clock.wallMs(),
      });
    });

    test("a claim that is opened anew has a window of its own", async () => {
      const { store, clock } = await openWorld(open);
      const first = await begin(store);
      clock.advance(dayMs);
      await amend(store, first, change({ holder: "b", fence: 2 }));
      const opened = { generation: "b", takenAt: clock.wallMs(), endsAt: clock.wallMs() + dayMs, asked: 1 };
      expect(await store.reads.claim(env, scope, key)).toMatchObject(opened);
    });

    test.each<[string, (store: Store) => Promise<unknown>]>([
      ["its lease was extended", (store) => store.extend({ env, scope, key, fence: 1, leaseMs: 5_000, note: "note" })],
      ["its note was changed", (store) => store.extend({ env, scope, key, fence: 1, leaseMs: 999, note: "other" })],
      ["it was settled", (store) => store.settle(env, scope, key, 1, "note")],
      ["it was released", (store) => store.release({ env, scope, key, fence: 1, reason: "" })],
    ])("nothing is written over a claim of which %s meanwhile", async (_, meanwhile) => {
      const { store, clock } = await openWorld(open);
      const read = await begin(store);
      clock.advance(1);
      await meanwhile(store);
      const before = await store.reads.claim(env, scope, key);
      expect(await amend(store, read, change({ holder: "b", fence: 2 }))).toBe("moved");
      expect(await amend(store, read, null)).toBe("moved");
      expect(await amend(store, null, change({ holder: "b" }))).toBe("moved");
      expect(await store.reads.claim(env, scope, key)).toEqual(before);
    });

    test("that somebody asked meanwhile is no change", async () => {
      const { store } = await openWorld(open);
      const read = await begin(store);
      const ask = { env, scope, key, token: "t", fingerprint: null, leaseMs: 1, windowMs: 1 };
      expect(await store.claim(ask)).toMatchObject({ kind: "in-flight" });
      expect(await amend(store, read, change({ outcome: "other", opens: false }))).toBe("amended");
      expect(await store.reads.claim(env, scope, key)).toMatchObject({ asked: 2, outcome: "other" });
    });

    test("a claim that is amended away was never there", async () => {
      const { store } = await openWorld(open);
      expect(await amend(store, await begin(store), null)).toBe("amended");
      expect(await store.reads.claim(env, scope, key)).toBeNull();
      expect(await store.reads.claims(env, { scope, limit: 10 })).toEqual([]);
      const ask = { env, scope, key, token: "t", fingerprint: null, leaseMs: 1, windowMs: 1 };
      expect(await store.claim(ask)).toMatchObject({ kind: "fresh", fence: 1, generation: "t" });
    });

    test("a claim without a lease is in flight for every asker; held, it outlives its window and the reaper", async () => {
      const { store, clock } = await openWorld(open);
      await begin(store, { leaseMs: null, held: true, windowMs: 1_000 });
      clock.advance(2 * dayMs);
      const ask = { env, scope, key, token: "t", fingerprint: null, leaseMs: 1, windowMs: 1 };
      expect(await store.claim(ask)).toMatchObject({ kind: "in-flight", leaseUntil: null });
      expect(await store.sweep({ max: 10, repair: false })).toMatchObject({ reaped: 0 });
    });

    test("settled, its window ends when it was told to, and askers get its outcome until then", async () => {
      const { store, clock } = await openWorld(open);
      const read = await begin(store, { held: true });
      clock.advance(10);
      await amend(
        store,
        read,
        change({ state: "settled", leaseMs: null, windowMs: 500, outcome: "done", opens: false }),
      );
      const ask = { env, scope, key, token: "t", fingerprint: "1:f", leaseMs: 1, windowMs: 1 };
      clock.advance(499);
      expect(await store.claim(ask)).toMatchObject({ kind: "duplicate", outcome: "done" });
      clock.advance(1);
      expect(await store.sweep({ max: 10, repair: false })).toMatchObject({ reaped: 1 });
    });

    test("a claim is read with the store's time; a step of the clock was not lived, neither by its window nor by its lease", async () => {
      const { store, clock } = await openWorld(open);
      const now = clock.wallMs();
      const seen = () => store.reads.claimNow(env, scope, key);
      expect(await seen()).toEqual({ claim: null, now, windowNow: now, leaseNow: now });
      const claim = await begin(store);
      clock.advance(10);
      expect(await seen()).toEqual({ claim, now: now + 10, windowNow: now + 10, leaseNow: now + 10 });
      clock.advance(1);
      clock.stepWall(dayMs);
      const later = now + dayMs + 11;
      expect(await seen()).toEqual({ claim, now: later, windowNow: now + 11, leaseNow: now + 11 });
      clock.advance(60_000);
      const muchLater = later + 60_000;
      expect(await seen()).toEqual({ claim, now: muchLater, windowNow: now + 60_011, leaseNow: muchLater });
    });

    everyWrite(
      open,
      "amend over nothing",
      async ({ store }) =>
        () =>
          amend(store, null, change()),
    );
    everyWrite(open, "amend over a claim, by hand", async ({ store }) => {
      const read = await begin(store);
      return () => amend(store, read, change({ holder: "b", fence: 2, opens: false }), "a person asked");
    });
    everyWrite(open, "amend away", async ({ store }) => {
      const read = await begin(store);
      return () => amend(store, read, null);
    });
  });
}
