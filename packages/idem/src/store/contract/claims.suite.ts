// A key taken in a scope for a window: the first asker wins, and later ones learn who won.
import { describe, expect, test } from "vitest";
import { dayMs } from "../../model/window.ts";
import type { ClaimInput } from "../claims.ts";
import {
  end,
  env,
  everyWrite,
  fn,
  forever,
  newEvent,
  type OpenStore,
  openWorld,
  startPair,
  timeWait,
} from "./world.ts";

const scope = "http:POST /charges";
const ask = (token: string, over: Partial<ClaimInput> = {}): ClaimInput => ({
  env,
  scope,
  key: "k",
  token,
  fingerprint: null,
  leaseMs: 1_000,
  windowMs: dayMs,
  ...over,
});

export function claimsSuite(open: OpenStore): void {
  describe("claims of any scope", () => {
    test("of eight who ask at once one is fresh and seven learn that it is in flight", async () => {
      const { store } = await openWorld(open);
      const answers = await Promise.all(Array.from({ length: 8 }, (_, n) => store.claim(ask(`t${n}`))));
      expect(answers.filter(({ kind }) => kind === "fresh")).toHaveLength(1);
      expect(answers.filter(({ kind }) => kind === "in-flight")).toHaveLength(7);
      expect(await store.reads.claim(env, scope, "k")).toMatchObject({ asked: 8, fence: 1, state: "in-flight" });
    });

    test("an asker while the first is at work learns since when, and until when to trust it", async () => {
      const { store, clock } = await openWorld(open);
      const since = clock.wallMs();
      await store.claim(ask("t1"));
      clock.advance(10);
      expect(await store.claim(ask("t2"))).toEqual({ kind: "in-flight", since, leaseUntil: since + 1_000 });
    });

    test("after the claim is settled every asker receives its outcome, byte for byte", async () => {
      const { store, clock } = await openWorld(open);
      const endsAt = clock.wallMs() + dayMs;
      await store.claim(ask("t1"));
      expect(await store.settle(env, scope, "k", 1, '{ "a":  1 }')).toBe("settled");
      const duplicate = { kind: "duplicate", outcome: '{ "a":  1 }', endsAt, generation: "t1" };
      expect(await store.claim(ask("t2"))).toEqual(duplicate);
      expect(await store.claim(ask("t3"))).toEqual(duplicate);
    });

    test("another payload under the same key is a mismatch, at work and settled; no payload never is", async () => {
      const { store, clock } = await openWorld(open);
      const since = clock.wallMs();
      await store.claim(ask("t1", { fingerprint: "one" }));
      expect(await store.claim(ask("t2", { fingerprint: "two" }))).toEqual({ kind: "mismatch", since });
      expect(await store.claim(ask("t3"))).toMatchObject({ kind: "in-flight" });
      await store.settle(env, scope, "k", 1, "1");
      expect(await store.claim(ask("t4", { fingerprint: "two" }))).toEqual({ kind: "mismatch", since });
      expect(await store.claim(ask("t5", { fingerprint: "one" }))).toMatchObject({ kind: "duplicate" });
      expect(await store.claim(ask("t6"))).toMatchObject({ kind: "duplicate" });
    });

    test("a lease that ran out is taken over once, under a higher fence, in the same window", async () => {
      const { store, clock } = await openWorld(open);
      const first = await store.claim(ask("t1"));
      clock.advance(999);
      expect(await store.claim(ask("t2"))).toMatchObject({ kind: "in-flight" });
      clock.advance(1);
      expect(await store.claim(ask("t2"))).toEqual({ ...first, fence: 2 });
      expect(await store.claim(ask("t3"))).toMatchObject({ kind: "in-flight", leaseUntil: clock.wallMs() + 1_000 });
    });

    test("whoever takes a claim over learns since when it is taken and what its holder noted", async () => {
      const { store, clock } = await openWorld(open);
      const since = clock.wallMs();
      const first = await store.claim(ask("t1", { note: "first" }));
      expect(first).toMatchObject({ kind: "fresh", since, note: "first" });
      clock.advance(10);
      expect(await store.claim(ask("t1", { note: "again" }))).toEqual(first);
      clock.advance(990);
      expect(await store.claim(ask("t2", { note: "second" }))).toEqual({ ...first, fence: 2 });
      expect(await store.reads.claim(env, scope, "k")).toMatchObject({ state: "in-flight", outcome: "first" });
    });

    test("a holder extends its lease and changes its note; with no lease left the next asker takes over at once", async () => {
      const { store, clock } = await openWorld(open);
      const since = clock.wallMs();
      await store.claim(ask("t1"));
      clock.advance(900);
      const extend = (fence: number, leaseMs: number, note: string | null) =>
        store.extend({ env, scope, key: "k", fence, leaseMs, note });
      expect(await extend(1, 1_000, "busy")).toBe("extended");
      clock.advance(900);
      expect(await store.claim(ask("t2"))).toMatchObject({ kind: "in-flight", since });
      expect(await extend(1, 0, "left")).toBe("extended");
      expect(await store.claim(ask("t2"))).toMatchObject({ kind: "fresh", fence: 2, since, note: "left" });
      expect(await extend(1, 1_000, "late")).toBe("lost");
      await store.settle(env, scope, "k", 2, "done");
      expect(await extend(2, 1_000, "late")).toBe("lost");
      expect(await store.reads.claim(env, scope, "k")).toMatchObject({ state: "settled", outcome: "done" });
      expect(await store.extend({ env, scope, key: "other", fence: 1, leaseMs: 1, note: null })).toBe("lost");
    });

    test("a claim that was given back and is taken again has a new beginning and a new note", async () => {
      const { store, clock } = await openWorld(open);
      await store.claim(ask("t1", { note: "first" }));
      await store.release({ env, scope, key: "k", fence: 1, reason: "" });
      clock.advance(5);
      expect(await store.claim(ask("t2", { note: "second" }))).toMatchObject({
        kind: "fresh",
        fence: 2,
        since: clock.wallMs(),
        note: "second",
      });
    });

    test("whoever was taken over can neither settle nor release", async () => {
      const { store, clock } = await openWorld(open);
      await store.claim(ask("t1"));
      clock.advance(1_000);
      await store.claim(ask("t2"));
      expect(await store.settle(env, scope, "k", 1, "late")).toBe("lost");
      expect(await store.release({ env, scope, key: "k", fence: 1, reason: "" })).toBe("lost");
      expect(await store.settle(env, scope, "k", 2, "right")).toBe("settled");
      expect(await store.reads.claim(env, scope, "k")).toMatchObject({ state: "settled", outcome: "right" });
    });

    test("the first outcome settled stays", async () => {
      const { store } = await openWorld(open);
      await store.claim(ask("t1"));
      await store.settle(env, scope, "k", 1, "first");
      expect(await store.settle(env, scope, "k", 1, "second")).toBe("settled");
      expect(await store.claim(ask("t2"))).toMatchObject({ outcome: "first" });
    });

    test("a claim given back by its holder can be taken by the next, in the same generation", async () => {
      const { store } = await openWorld(open);
      await store.claim(ask("t1"));
      expect(await store.release({ env, scope, key: "k", fence: 1, reason: "" })).toBe("released");
      expect(await store.claim(ask("t2"))).toMatchObject({ kind: "fresh", fence: 2, generation: "t1" });
      expect(await store.settle(env, scope, "k", 1, "late")).toBe("lost");
    });

    test("a settled claim can only be released by hand; a key nobody took is unknown", async () => {
      const { store, releaseByHand } = await openWorld(open).then((world) => ({
        store: world.store,
        releaseByHand: (key: string) => world.releaseByHand(key, scope),
      }));
      await store.claim(ask("t1"));
      await store.settle(env, scope, "k", 1, "1");
      expect(await store.release({ env, scope, key: "k", fence: 1, reason: "" })).toBe("lost");
      expect(await releaseByHand("k")).toBe("released");
      expect(await store.claim(ask("t2"))).toMatchObject({ kind: "fresh", fence: 2, generation: "t1" });
      expect(await releaseByHand("other")).toBe("unknown");
    });

    test("an asker who comes again with its own token is not counted", async () => {
      const { store } = await openWorld(open);
      const first = await store.claim(ask("t1"));
      expect(await store.claim(ask("t1"))).toEqual(first);
      expect(await store.reads.claim(env, scope, "k")).toMatchObject({ asked: 1 });
      await store.claim(ask("t2"));
      expect(await store.reads.claim(env, scope, "k")).toMatchObject({ asked: 2 });
    });

    test("the same key in two scopes is two keys", async () => {
      const { store } = await openWorld(open);
      expect(await store.claim(ask("t1"))).toMatchObject({ kind: "fresh" });
      expect(await store.claim(ask("t2", { scope: "other" }))).toMatchObject({ kind: "fresh" });
      // Scope and key are two columns, not one joined text.
      expect(await store.claim(ask("t3", { scope: "a", key: "b:c" }))).toMatchObject({ kind: "fresh" });
      expect(await store.claim(ask("t4", { scope: "a:b", key: "c" }))).toMatchObject({ kind: "fresh" });
    });

    test("claims are listed by scope and key, page by page", async () => {
      const { store } = await openWorld(open);
      for (const key of ["b", "a", "c"]) await store.claim(ask(key, { key }));
      await store.claim(ask("z", { scope: "another", key: "z" }));
      const names = (page: readonly { scope: string; key: string }[]) => page.map((claim) => claim.key);
      expect(names(await store.reads.claims(env, { limit: 10 }))).toEqual(["z", "a", "b", "c"]);
      expect(names(await store.reads.claims(env, { scope, limit: 2 }))).toEqual(["a", "b"]);
      const after = { scope, key: "b" };
      expect(names(await store.reads.claims(env, { scope, after, limit: 2 }))).toEqual(["c"]);
      expect(names(await store.reads.claims(env, { after: { scope: "another", key: "z" }, limit: 1 }))).toEqual(["a"]);
      await store.claim(ask("y", { scope: "anothes", key: "y" }));
      await store.claim(ask("x", { scope: "another:x", key: "x" }));
      expect(names(await store.reads.claims(env, { under: "another", limit: 10 }))).toEqual(["z", "x"]);
      const from = { scope: "another", key: "z" };
      expect(names(await store.reads.claims(env, { under: "another", after: from, limit: 10 }))).toEqual(["x"]);
    });

    everyWrite(open, "extend", async ({ store }) => {
      await store.claim(ask("t1"));
      return () => store.extend({ env, scope, key: "k", fence: 1, leaseMs: 5_000, note: "n" });
    });

    everyWrite(
      open,
      "claim",
      async ({ store }) =>
        () =>
          store.claim(ask("t1")),
    );
    everyWrite(open, "claim of a settled key", async ({ store }) => {
      await store.claim(ask("t1"));
      await store.settle(env, scope, "k", 1, "1");
      return () => store.claim(ask("t1"));
    });
    everyWrite(open, "settle", async ({ store }) => {
      await store.claim(ask("t1"));
      return () => store.settle(env, scope, "k", 1, "1");
    });
    everyWrite(open, "release by hand", async (world) => {
      await world.store.claim(ask("t1"));
      return () => world.releaseByHand("k", scope);
    });
  });

  describe("windows", () => {
    test("one millisecond before its end the key is taken; at its end one of eight is fresh, in a new generation", async () => {
      const { store, clock } = await openWorld(open);
      await store.claim(ask("t0"));
      await store.settle(env, scope, "k", 1, "1");
      clock.advance(dayMs - 1);
      const before = await Promise.all(Array.from({ length: 8 }, (_, n) => store.claim(ask(`early${n}`))));
      expect(before.every(({ kind }) => kind === "duplicate")).toBe(true);
      clock.advance(1);
      const after = await Promise.all(Array.from({ length: 8 }, (_, n) => store.claim(ask(`t${n + 1}`))));
      const fresh = after.filter((answer) => answer.kind === "fresh");
      expect(fresh).toHaveLength(1);
      expect(fresh[0]).toMatchObject({ fence: 2, endsAt: clock.wallMs() + dayMs });
      expect(fresh[0]!.generation).not.toBe("t0");
      expect(await store.reads.claim(env, scope, "k")).toMatchObject({ asked: 8, generation: fresh[0]!.generation });
    });

    test("a run's key is taken to the last millisecond of its window and free at its end", async () => {
      const world = await openWorld(open);
      const first = await world.start("r1", { key: '"k"' });
      expect(first).toMatchObject({ kind: "started", windowEndsAt: world.clock.wallMs() + dayMs });
      world.clock.advance(dayMs - 1);
      expect(await world.start("r2", { key: '"k"' })).toMatchObject({ kind: "duplicate-key", runId: "r1" });
      world.clock.advance(1);
      expect(await world.start("r3", { key: '"k"' })).toMatchObject({ kind: "started", runId: "r3" });
      expect(await world.run("r3")).toMatchObject({ generation: "r3", previousRunId: "r1" });
      expect(await world.run("r1")).toMatchObject({ generation: "r1", previousRunId: null });
    });

    test("of eight events in the instant a run's window ends, one starts", async () => {
      const world = await openWorld(open);
      await world.start("r0", { key: '"k"' });
      world.clock.advance(dayMs);
      const decisions = await Promise.all(
        ["r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8"].map((id) => world.start(id, { key: '"k"' })),
      );
      const started = decisions.filter(({ kind }) => kind === "started");
      expect(started).toHaveLength(1);
      expect(new Set(decisions.map(({ runId }) => runId))).toEqual(new Set([started[0]!.runId]));
      expect(await world.claimOf('"k"')).toMatchObject({ fence: 2, generation: started[0]!.runId, asked: 8 });
    });

    test("duplicates do not make a window longer", async () => {
      const world = await openWorld(open);
      const { windowEndsAt } = await world.start("r1", { key: '"k"' });
      world.clock.advance(dayMs / 2);
      expect(await world.start("r2", { key: '"k"' })).toMatchObject({ windowEndsAt });
      world.clock.advance(dayMs / 2);
      expect(await world.start("r3", { key: '"k"' })).toMatchObject({ kind: "started" });
    });

    test("a window ends even while its run sleeps", async () => {
      const world = await openWorld(open);
      await world.startWaiting("r1", [timeWait("s", world.clock.wallMs() + 3 * dayMs)], { key: '"k"' });
      world.clock.advance(dayMs);
      expect(await world.start("r2", { key: '"k"' })).toMatchObject({ kind: "started" });
    });

    test("a key held until its run is finished stays taken past its window, and is free after the run's end", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1", { key: '"k"', hold: true });
      world.clock.advance(2 * dayMs);
      expect(await world.start("r2", { key: '"k"' })).toMatchObject({ kind: "duplicate-key", runId: "r1" });
      await world.advance("r1", { next: end("completed") });
      expect(await world.start("r3", { key: '"k"' })).toMatchObject({ kind: "started" });
      expect((await world.run("r3")).generation).toBe("r3");
    });

    test("a held key whose run finished early stays taken until its window ends", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1", { key: '"k"', hold: true });
      await world.advance("r1", { next: end("completed") });
      world.clock.advance(dayMs - 1);
      expect(await world.start("r2", { key: '"k"' })).toMatchObject({ kind: "duplicate-key", runId: "r1" });
      world.clock.advance(1);
      expect(await world.start("r3", { key: '"k"' })).toMatchObject({ kind: "started" });
    });

    test("reaping a closed window changes no answer but forgets who was before", async () => {
      const world = await openWorld(open);
      await world.start("r1", { key: '"k"' });
      world.clock.advance(dayMs - 1);
      expect(await world.store.sweep({ max: 10, repair: false })).toMatchObject({ reaped: 0 });
      world.clock.advance(1);
      expect(await world.store.sweep({ max: 10, repair: false })).toMatchObject({ reaped: 1 });
      expect(await world.store.reads.claim(env, `fn:${fn}`, '"k"')).toBeNull();
      await world.start("r2", { key: '"k"' });
      expect(await world.run("r2")).toMatchObject({ generation: "r2" });
    });

    test("a held key is not reaped while its run is open, a released one not before its window ends", async () => {
      const world = await openWorld(open);
      await world.start("r1", { key: '"held"', hold: true });
      await world.start("r2", { key: '"released"', windowMs: 3 * dayMs });
      await world.releaseByHand('"released"');
      world.clock.advance(2 * dayMs);
      expect(await world.store.sweep({ max: 10, repair: false })).toMatchObject({ reaped: 0 });
      expect(await world.claimOf('"released"')).toMatchObject({ state: "released", generation: "r2" });
    });

    test("reaping is bounded", async () => {
      const world = await openWorld(open);
      for (const key of ["1", "2", "3"]) await world.start(`r${key}`, { key });
      world.clock.advance(dayMs);
      expect(await world.store.sweep({ max: 2, repair: false })).toMatchObject({ reaped: 2 });
      expect(await world.store.sweep({ max: 2, repair: false })).toMatchObject({ reaped: 1 });
    });

    test("a clock that goes backwards opens no closed window again", async () => {
      const world = await openWorld(open);
      await world.start("r1", { key: '"k"' });
      world.clock.advance(dayMs);
      await world.start("r2", { key: '"k"' });
      world.clock.stepWall(-dayMs);
      expect(await world.start("r3", { key: '"k"' })).toMatchObject({ kind: "duplicate-key", runId: "r2" });
      const { receivedAt } = (await world.store.reads.event(env, "event of r3"))!;
      expect(receivedAt).toBe((await world.store.reads.event(env, "event of r2"))!.receivedAt);
    });

    test("a wall clock set 25 hours ahead closes no window until the time has really passed", async () => {
      const world = await openWorld(open);
      await world.start("r1", { key: '"k"' }, { callerId: "id" });
      world.clock.stepWall(25 * 60 * 60 * 1000);
      expect(await world.start("r2", { key: '"k"' })).toMatchObject({ kind: "duplicate-key", runId: "r1" });
      expect(await world.start("r3", {}, { callerId: "id" })).toMatchObject({ kind: "duplicate-event", runId: "r1" });
      expect(await world.store.sweep({ max: 10, repair: false })).toMatchObject({ reaped: 0 });
      world.clock.advance(25 * 60 * 60 * 1000);
      expect(await world.start("r4", { key: '"k"' })).toMatchObject({ kind: "started" });
    });

    test.each([6_000, dayMs / 2, dayMs - 1, dayMs])(
      "a window lasts as long as it was lived, whether the wall clock was set %i ms ahead during it, before it or twice",
      async (aheadMs) => {
        const world = await openWorld(open);
        await world.start("r1", { key: '"during"' }, { callerId: "id" });
        world.clock.advance(1);
        world.clock.stepWall(aheadMs);
        await world.start("r2", { key: '"after"' });
        world.clock.advance(1);
        world.clock.stepWall(aheadMs);
        world.clock.advance(dayMs - 3);
        const again = { kind: "duplicate-key", runId: "r1" };
        expect(await world.start("r3", { key: '"during"' })).toMatchObject(again);
        expect(await world.start("r4", {}, { callerId: "id" })).toMatchObject({ kind: "duplicate-event", runId: "r1" });
        expect(await world.store.sweep({ max: 10, repair: false })).toMatchObject({ reaped: 0 });
        world.clock.advance(1);
        expect(await world.start("r5", { key: '"during"' })).toMatchObject({ kind: "started" });
        expect(await world.start("r6", { key: '"after"' })).toMatchObject({ kind: "duplicate-key", runId: "r2" });
        world.clock.advance(1);
        expect(await world.start("r7", { key: '"after"' })).toMatchObject({ kind: "started" });
      },
    );

    test("a wall clock set ahead and back again closes no window early", async () => {
      const world = await openWorld(open);
      await world.start("r1", { key: '"k"' });
      world.clock.advance(1);
      world.clock.stepWall(dayMs / 2);
      await world.store.sweep({ max: 10, repair: false });
      world.clock.stepWall(-dayMs / 2);
      world.clock.advance(dayMs - 2);
      expect(await world.start("r2", { key: '"k"' })).toMatchObject({ kind: "duplicate-key", runId: "r1" });
    });
  });

  describe("function keys", () => {
    test("the second run of a key is not created, and its decision names the first run, its event and the window's end", async () => {
      const world = await openWorld(open);
      const first = await world.start("r1", { key: '"k"' });
      world.clock.advance(1_000);
      expect(await world.start("r2", { key: '"k"' })).toEqual({
        eventId: "event of r2",
        fn,
        kind: "duplicate-key",
        reason: 'key "k" is taken by run r1',
        runId: "r1",
        key: '"k"',
        windowEndsAt: first.windowEndsAt,
        firstEventId: "event of r1",
        decidedAt: world.clock.wallMs(),
      });
      expect(await world.store.reads.run(env, "r2")).toBeNull();
      expect(await world.claimOf('"k"')).toMatchObject({ asked: 2, holder: "r1", lastAskedAt: world.clock.wallMs() });
    });

    test.each([
      ["failed", "failed"],
      ["cancelled", "was cancelled"],
    ] as const)(
      "a duplicate of a run that %s says so, and that a rerun or a release would help",
      async (state, how) => {
        const world = await openWorld(open);
        await world.start("r1", { key: '"k"', leaseTo: "w1" });
        await world.advance("r1", { next: end(state) });
        expect(await world.start("r2", { key: '"k"' })).toMatchObject({
          kind: "duplicate-key",
          runId: "r1",
          reason: `key "k" is taken by run r1, which ${how}: rerun it, or release the key so that the next event starts a new run`,
        });
      },
    );

    test("a duplicate of a run that completed, or of a rerun that goes on, only names it", async () => {
      const world = await openWorld(open);
      await world.start("r1", { key: '"k"', leaseTo: "w1" });
      await world.advance("r1", { next: end("completed") });
      expect(await world.start("r2", { key: '"k"' })).toMatchObject({ reason: 'key "k" is taken by run r1' });
    });

    test("of eight senders of one key at once, one starts a run and seven are told of it", async () => {
      const world = await openWorld(open);
      const ids = ["r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8"];
      const decisions = await Promise.all(ids.map((id) => world.start(id, { key: '"k"' })));
      const runs = await world.store.reads.runs(env, { limit: 10 });
      expect(runs).toHaveLength(1);
      expect(decisions.every(({ runId }) => runId === runs[0]!.id)).toBe(true);
      expect(await world.claimOf('"k"')).toMatchObject({ asked: 8 });
    });

    test("the same key twice in one call starts the first only", async () => {
      const world = await openWorld(open);
      const pairs = [startPair("r1", { key: '"k"' }), startPair("r2", { event: 1, key: '"k"' })];
      const { decisions } = await world.ingest([newEvent("e1"), newEvent("e2")], pairs);
      expect(decisions.map(({ kind, runId }) => [kind, runId])).toEqual([
        ["started", "r1"],
        ["duplicate-key", "r1"],
      ]);
    });

    test('the number 1 and the text "1" are different keys, and so are equal keys of two functions', async () => {
      const world = await openWorld(open);
      expect(await world.start("r1", { key: "1" })).toMatchObject({ kind: "started" });
      expect(await world.start("r2", { key: '"1"' })).toMatchObject({ kind: "started" });
      expect(await world.start("r3", { key: "1", fn: "shop-other" })).toMatchObject({ kind: "started" });
    });

    test("a claim is in flight while its run is open, and settled by the run's end", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1", { key: '"k"' });
      expect(await world.claimOf('"k"')).toMatchObject({ state: "in-flight", holder: "r1" });
      await world.advance("r1", { next: end("completed") });
      expect(await world.claimOf('"k"')).toMatchObject({ state: "settled", holder: "r1" });
    });

    test("a failed run keeps its key", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1", { key: '"k"' });
      await world.advance("r1", { next: end("failed") });
      expect(await world.start("r2", { key: '"k"' })).toMatchObject({ kind: "duplicate-key", runId: "r1" });
    });

    test("a failed run that gives its key back makes room for the next, in the same generation", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1", { key: '"k"' });
      await world.advance("r1", { next: end("failed", '"no"', true) });
      expect(await world.start("r2", { key: '"k"' })).toMatchObject({ kind: "started", runId: "r2" });
      expect(await world.run("r2")).toMatchObject({ generation: "r1", previousRunId: "r1" });
    });

    test("a key released by hand keeps its generation, until its window would have ended", async () => {
      const world = await openWorld(open);
      await world.start("r1", { key: '"k"' });
      await world.releaseByHand('"k"');
      await world.start("r2", { key: '"k"' });
      expect(await world.run("r2")).toMatchObject({ generation: "r1" });

      await world.start("r3", { key: '"other"' });
      await world.releaseByHand('"other"');
      world.clock.advance(dayMs);
      await world.start("r4", { key: '"other"' });
      expect(await world.run("r4")).toMatchObject({ generation: "r4" });
    });

    test("a key released by hand stays free when the run that held it ends", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1", { key: '"k"' });
      await world.releaseByHand('"k"');
      await world.advance("r1", { next: end("completed") });
      expect(await world.start("r2", { key: '"k"' })).toMatchObject({ kind: "started" });
    });

    test("the end of a run leaves a key alone that another run has taken since", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1", { key: '"k"' });
      world.clock.advance(dayMs);
      await world.start("r2", { key: '"k"' });
      await world.advance("r1", { next: end("failed", '"no"', true) });
      expect(await world.claimOf('"k"')).toMatchObject({ holder: "r2", state: "in-flight" });
    });

    test("suspending keeps the key in flight", async () => {
      const world = await openWorld(open);
      await world.startLeased("r1", { key: '"k"' });
      await world.advance("r1", { next: forever });
      expect(await world.claimOf('"k"')).toMatchObject({ state: "in-flight" });
    });
  });
}
