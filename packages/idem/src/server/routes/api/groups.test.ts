// The list of runs: one line per key, doubled keys apart, and numbers that add up, over every store.
import { describe, expect, test } from "vitest";
import type { ApiWorld } from "../../api/api-world.suite.ts";
import { everyStore, useEveryStore } from "../../api/every-store.suite.ts";
import { listAskers } from "./list-askers.ts";
import { listFunctions } from "./list-functions.ts";
import { listGroups } from "./list-groups.ts";
import { readTotals } from "./read-totals.ts";

const open = useEveryStore();

const byOrder = { idempotency: "event.data.orderId" };

async function shop(kind: (typeof everyStore)[number]): Promise<ApiWorld> {
  const world = await open(kind);
  await world.start({
    bill: { on: "order/paid", options: byOrder, run: ({ event }) => ({ invoice: event.data.orderId }) },
    draft: { on: "placement/changed", run: () => "drafted" },
    fragile: {
      on: "order/failed",
      options: { ...byOrder, retries: 0 },
      run: () => {
        throw new Error("no such account");
      },
    },
  });
  return world;
}

const paid = (orderId: unknown) => ({ name: "order/paid", data: { orderId } });
const changed = (placementId: number, eventType: string, over: object = {}) => ({
  name: "placement/changed",
  data: { placementId, eventType, ...over },
});

/** Lets time pass, so that what was decided is counted. */
async function counted(world: ApiWorld): Promise<void> {
  await world.idle();
  await world.store.count({ env: "default", until: world.engine.now() + 1, max: 1_000 });
}

async function groups(world: ApiWorld, query: Record<string, string | number> = {}) {
  await world.idle();
  const { status, body } = await world.ask(listGroups, { query });
  expect(status).toBe(200);
  return body;
}

async function release(world: ApiWorld, key: string): Promise<void> {
  await world.idle();
  const scope = "fn:shop-bill";
  await world.store.release({ env: "default", scope, key, fence: null, reason: "a person asked" });
}

describe.each(everyStore)("groups over %s", (kind) => {
  test("a key that was asked for three times is one line with two suppressed, and its window", async () => {
    const world = await shop(kind);
    for (let i = 0; i < 3; i++) await world.send(paid(7));
    const { groups: listed, pinned, next } = await groups(world);
    expect(pinned).toEqual({ groups: [], count: 0, isAll: true });
    expect(next).toBeNull();
    expect(listed).toMatchObject([
      {
        function: "shop-bill",
        key: "7",
        label: "orderId 7",
        isGuess: false,
        eventName: "order/paid",
        window: { kind: "timed" },
        runs: [{ kind: "first", state: "completed", preview: '{"invoice":7}', attempt: null }],
        counts: { suppressed: 2, slipped: 0, reruns: 0 },
        gapMs: null,
        isLoud: false,
        tags: [],
      },
    ]);
    const { startsAt, endsAt } = listed[0].window;
    expect(endsAt - startsAt).toBe(86_400_000);
    expect(listed[0].id).toBe(listed[0].runs[0].id);
  });

  test("a released key that ran again is loud and pinned; a rerun is neither", async () => {
    const world = await shop(kind);
    const first = await world.send(paid(7));
    await world.send(paid(8));
    await release(world, "7");
    await world.advance(800);
    const again = await world.send(paid(7));
    await world.idle();
    const rerun = await world.engine.rerun(first.runId);
    await world.engine.rerun((await groups(world, { fn: "shop-bill", key: "8" })).groups[0].id);
    await counted(world);
    const { groups: listed, pinned } = await groups(world);
    expect(listed).toMatchObject([{ key: "8", isLoud: false, counts: { slipped: 0, reruns: 1 } }]);
    expect(pinned).toMatchObject({
      count: 1,
      groups: [{ key: "7", isLoud: true, gapMs: 800, counts: { slipped: 1, reruns: 1 }, runCount: 3 }],
    });
    expect(pinned.groups[0].runs.map((run: any) => [run.id, run.kind])).toEqual([
      [first.runId, "first"],
      [again.runId, "slipped"],
      [rerun, "rerun"],
    ]);
    const inPlace = await groups(world, { order: "newest" });
    expect(inPlace.pinned).toBeNull();
    expect(inPlace.groups.map((group: any) => group.key).sort()).toEqual(["7", "8"]);
    expect((await groups(world, { show: "doubled" })).groups).toMatchObject([{ key: "7" }]);
    expect((await groups(world, { ids: again.runId })).groups).toMatchObject([{ id: first.runId }]);
  });

  test("a key given back by a run that failed ran again because its function is configured so: nothing slipped through", async () => {
    const world = await open(kind);
    let tries = 0;
    await world.start({
      bill: {
        on: "order/paid",
        options: { idempotency: { key: "event.data.orderId", afterFailure: "release" }, retries: 0 },
        run: () => {
          if (++tries === 1) throw new Error("no such account");
          return { invoice: tries };
        },
      },
    });
    const first = await world.send(paid(7));
    await world.idle();
    await world.advance(800);
    const second = await world.send(paid(7));
    for (const when of ["before it is counted", "after"] as const) {
      if (when === "after") await counted(world);
      const { groups: listed, pinned } = await groups(world, { ids: second.runId });
      expect([when, pinned?.count ?? 0]).toEqual([when, 0]);
      const [group] = listed;
      expect(group).toMatchObject({ isLoud: false, gapMs: null, counts: { slipped: 0 } });
      expect(group.runs.at(-1)).toMatchObject({ id: second.runId, kind: "first", state: "completed" });
    }
    expect((await groups(world, { order: "newest" })).groups[0].runs).toMatchObject([
      { id: first.runId, state: "failed" },
      { id: second.runId, state: "completed" },
    ]);
  });

  test("what was guessed to be the same is one line, also where a page ends between its runs", async () => {
    const world = await shop(kind);
    const last = 30;
    for (let placement = 1; placement <= last; placement++) {
      await world.send(changed(placement, "INSERTED"));
      if (placement > 1) await world.send(changed(placement - 1, "UPDATED"));
    }
    for (let i = 0; i < 3; i++) await world.send(changed(last, "UPDATED"));
    await world.idle();
    const expected = Array.from({ length: last }, (_, i) => `placementId ${last - i}: ${i === 0 ? 4 : 2}`);
    // With 25 a page reads 50 runs, and the two runs of its last group stand on both sides of them.
    for (const limit of [1, 2, 3, 25]) {
      const listed: any[] = [];
      let before: string | null = null;
      do {
        const page: any = await groups(world, { order: "newest", limit: String(limit), ...(before && { before }) });
        listed.push(...page.groups);
        before = page.next;
      } while (before !== null);
      const lines = listed.map(({ label, runs }) => `${label}: ${runs.length}`);
      expect([limit, lines]).toEqual([limit, expected]);
      expect(new Set(listed.map(({ id }) => id)).size).toBe(listed.length);
    }
  });

  test("the same key after its window ended is another group, tagged so", async () => {
    const world = await shop(kind);
    await world.send(paid(7));
    await world.idle();
    // Nobody sweeps meanwhile: once the claim is gone, so is what it knew of the window before.
    world.platform.clock.advance(86_400_001);
    await world.send(paid(7));
    const { groups: listed } = await groups(world);
    expect(listed.map(({ key, tags }: any) => [key, tags])).toEqual([
      ["7", ["window 2"]],
      ["7", []],
    ]);
  });

  test("runs without a key are taken together by our best guess: within a minute loudly, later and with other data quietly", async () => {
    const world = await shop(kind);
    for (const placementId of [1, 2, 3]) {
      await world.send(changed(placementId, "INSERTED", { note: "a" }));
      await world.advance(800);
      await world.send(changed(placementId, "UPDATED", { note: "a" }));
      await world.advance(5_000);
    }
    await world.send(changed(4, "INSERTED", { note: "a" }));
    await world.advance(600_000);
    await world.send(changed(4, "UPDATED", { note: "quite another" }));
    const { groups: listed } = await groups(world, { order: "newest" });
    expect(listed.map(({ label, isGuess, isLoud, tags, gapMs }: any) => [label, isGuess, isLoud, tags, gapMs])).toEqual(
      [
        ["placementId 4", true, false, ["maybe the same"], 600_000],
        ["placementId 3", true, true, [], 800],
        ["placementId 2", true, true, [], 800],
        ["placementId 1", true, true, [], 800],
      ],
    );
    expect(listed[1]).toMatchObject({ window: { kind: "none" }, counts: { slipped: 1, suppressed: 0 } });
  });

  test("what the radar paired is pinned, however long ago; seen before the radar did, it is pinned as well; muted, it is quiet", async () => {
    const world = await shop(kind);
    const first = await world.send(changed(1, "INSERTED"));
    const later = await world.send(changed(1, "UPDATED"));
    await world.send(changed(2, "INSERTED"));
    await world.send(changed(2, "UPDATED"));
    await world.send(paid(7));
    const seen = await groups(world);
    expect(seen.pinned).toMatchObject({ count: 2, groups: [{ label: "placementId 2" }, { label: "placementId 1" }] });
    expect(seen.groups.map(({ key }: any) => key)).toEqual(["7"]);
    const alert = { id: "A", kind: "doubled-runs", fn: "shop-draft", about: "", subject: "event.data.placementId" };
    const pairs = [{ entity: "1", firstId: first.runId, laterId: later.runId, at: world.engine.now() }];
    await world.store.raise({ env: "default", alerts: [{ ...alert, facts: "{}", pairs }] });
    expect((await groups(world)).pinned).toMatchObject({ count: 2 });
    const doubled = await groups(world, { show: "doubled" });
    const once = { isGuess: true, counts: { slipped: 1 } };
    expect(doubled.groups).toMatchObject([
      { label: "placementId 2", ...once },
      { label: "placementId 1", ...once },
    ]);
    const { body } = await world.ask(readTotals, { query: { since: "7d", fn: "shop-draft" } });
    expect(body).toMatchObject({ asked: 4, first: 2, suppressed: 0, slipped: 2, doubledKeys: 2 });
    const mute = { env: "default", id: "A", verdict: "mute", until: null, by: "test", note: "fine" } as const;
    await world.store.judge(mute);
    const quiet = await groups(world);
    expect(quiet.pinned).toMatchObject({ count: 0 });
    expect(quiet.groups.map(({ isLoud }: any) => isLoud)).toEqual([false, false, false]);
  });

  test("events whose key is missing never share a group", async () => {
    const world = await shop(kind);
    await world.send(paid(null));
    await world.send(paid(null));
    const { groups: listed } = await groups(world);
    expect(listed.map(({ key, tags, isLoud }: any) => [key, tags, isLoud])).toEqual([
      [null, ["key was missing"], false],
      [null, ["key was missing"], false],
    ]);
  });

  test("pages tell every group once, newest first", async () => {
    const world = await shop(kind);
    for (let i = 0; i < 7; i++) {
      await world.send(paid(i));
      await world.send(paid(i));
      await world.advance(10);
    }
    const keys: string[] = [];
    let before: string | null = null;
    do {
      const page: any = await groups(world, { limit: 3, ...(before === null ? {} : { before }) });
      expect(page.groups.length).toBeLessThanOrEqual(3);
      keys.push(...page.groups.map(({ key }: any) => key));
      before = page.next;
    } while (before !== null);
    expect(keys).toEqual(["6", "5", "4", "3", "2", "1", "0"]);
  });

  test("filters: state, text, name of the event, suppressed, and an expression over event and output", async () => {
    const world = await shop(kind);
    await world.send(paid(7));
    await world.send(paid(7));
    await world.send(paid("seven"));
    const failed = await world.send({ name: "order/failed", data: { orderId: 9 } });
    await world.idle();
    const found = async (query: Record<string, string | number>) =>
      (await groups(world, query)).groups.map(({ key }: any) => key);
    expect(await found({ state: "failed" })).toEqual(["9"]);
    expect(await found({ show: "failed" })).toEqual(["9"]);
    expect(await found({ show: "suppressed" })).toEqual(["7"]);
    expect(await found({ event: "order/failed" })).toEqual(["9"]);
    expect(await found({ event: failed.eventId })).toEqual(["9"]);
    expect(await found({ q: "SEVEN" })).toEqual(['"seven"']);
    expect(await found({ q: failed.runId.toLowerCase() })).toEqual(["9"]);
    expect(await found({ fn: "shop-bill", key: "seven" })).toEqual(['"seven"']);
    expect(await found({ cel: 'event.data.orderId == "seven"' })).toEqual(['"seven"']);
    expect(await found({ cel: "output.invoice == 7" })).toEqual(["7"]);
    expect(await found({ cel: "event.data.nothing > 3" })).toEqual([]);
    const all = { fn: "shop-bill", state: "completed", key: "seven", event: "order/paid", q: "seven", since: "1h" };
    expect(await found({ ...all, cel: "output.invoice == event.data.orderId" })).toEqual(['"seven"']);
    for (const other of [
      { state: "failed" },
      { key: "7" },
      { event: "order/failed" },
      { q: "nine" },
      { cel: "output == 1" },
    ])
      expect(await found({ ...all, ...other })).toEqual([]);
    expect(await found({ show: "doubled", q: "seven" })).toEqual([]);
    await release(world, '"seven"');
    await world.send(paid("seven"));
    await world.send(paid(7));
    expect(await found({ show: "doubled", q: "SEVEN", state: "completed" })).toEqual(['"seven"']);
    expect(await found({ show: "doubled", q: "7", fn: "shop-fragile" })).toEqual([]);
    expect((await groups(world, { state: "failed" })).groups[0].runs[0]).toMatchObject({ state: "failed" });
  });

  test("a mistake in an expression is said with its place", async () => {
    const world = await shop(kind);
    const { status, body } = await world.ask(listGroups, { query: { cel: "event.data.a == && 3" } });
    expect(status).toBe(400);
    expect(body.error).toContain('query parameter "cel", character 17');
  });

  test("by function, by event and run by run", async () => {
    const world = await shop(kind);
    await world.send(paid(7));
    const { eventId, runId } = await world.send(paid(7));
    await world.idle();
    expect((await groups(world, { group: "function", fn: "shop-bill" })).functions).toMatchObject([
      { function: "shop-bill", asked: 2, first: 1, suppressed: 1, slipped: 0, failed: 0, ended: 1 },
    ]);
    const { events } = await groups(world, { group: "event" });
    expect(events[0]).toMatchObject({ id: eventId, runCount: 0, decisions: [{ kind: "duplicate-key", runId }] });
    const detected = { name: "idem/duplicate.detected", data: {} };
    for (let i = 0; i < 3; i++) await world.engine.announce([{ ...detected, id: `duplicate-${i}` }], 60_000);
    expect((await groups(world, { group: "event" })).events).toEqual(events);
    expect((await groups(world, { group: "event", limit: 1 })).events).toEqual(events.slice(0, 1));
    expect((await groups(world, { group: "event", event: detected.name })).events).toHaveLength(3);
    expect((await groups(world, { group: "none" })).groups).toMatchObject([{ id: runId, runs: [{ id: runId }] }]);
  });

  test("numbers add up: asked is first runs, suppressed and slipped through, in all, by function and by bucket", async () => {
    const world = await shop(kind);
    for (const orderId of [1, 1, 2, 3, 3, 3]) await world.send(paid(orderId));
    await release(world, "1");
    await world.send(paid(1));
    await counted(world);
    await world.send(paid(2));
    await world.idle();
    const { body } = await world.ask(readTotals, { query: { since: "7d" } });
    const expected = { asked: 8, first: 3, suppressed: 4, slipped: 1 };
    expect(body).toMatchObject({ ...expected, isAll: true, functions: [{ function: "shop-bill", ...expected }] });
    expect(body.buckets.length).toBeLessThanOrEqual(57);
    for (const part of Object.keys(expected) as (keyof typeof expected)[]) {
      expect(body.buckets.reduce((sum: number, bucket: any) => sum + bucket[part], 0)).toBe(expected[part]);
    }
    const short = await world.ask(readTotals, { query: { since: "30m" } });
    expect(short.body).toMatchObject({ ...expected, bucketMs: 60_000 });
    expect((await world.ask(readTotals, { query: { since: "7d", fn: "shop-draft" } })).body).toMatchObject({
      asked: 0,
    });
  });

  test("what is loud on the page is in the numbers at once: before it was counted or paired, and after", async () => {
    const world = await shop(kind);
    const seen = async () => {
      const { pinned, totals } = await groups(world, { since: "7d", totals: "true" });
      const { body } = await world.ask(readTotals, { query: { since: "7d" } });
      const doubled = await groups(world, { since: "7d", show: "doubled" });
      const { asked, first: firsts, suppressed, slipped, doubledKeys } = totals;
      expect(asked).toBe(firsts + suppressed + slipped);
      expect(body).toMatchObject({ asked, first: firsts, suppressed, slipped, doubledKeys, asOf: totals.asOf });
      expect(doubledKeys).toBe(pinned.count);
      expect(doubled.groups.map(({ id }: any) => id)).toEqual(pinned.groups.map(({ id }: any) => id));
      expect(slipped).toBe(doubled.groups.reduce((sum: number, { counts }: any) => sum + counts.slipped, 0));
      return { asked, suppressed, slipped, doubledKeys };
    };
    const first = await world.send(changed(1, "INSERTED"));
    await world.advance(10);
    const second = await world.send(changed(1, "UPDATED"));
    await world.send(paid(7));
    await world.send(paid(7));
    await release(world, "7");
    await world.advance(10);
    await world.send(paid(7));
    expect(await seen()).toEqual({ asked: 5, suppressed: 1, slipped: 2, doubledKeys: 2 });

    await counted(world);
    const alert = { id: "A", kind: "doubled-runs", fn: "shop-draft", about: "", subject: "event.data.placementId" };
    const pairs = [{ entity: "1", firstId: first.runId, laterId: second.runId, at: world.engine.now() }];
    await world.store.raise({ env: "default", alerts: [{ ...alert, facts: "{}", pairs }] });
    expect(await seen()).toEqual({ asked: 5, suppressed: 1, slipped: 2, doubledKeys: 2 });

    await world.advance(10);
    const third = await world.send(changed(1, "UPDATED"));
    await release(world, "7");
    await world.advance(10);
    await world.send(paid(7));
    expect(await seen()).toEqual({ asked: 7, suppressed: 1, slipped: 4, doubledKeys: 2 });
    const more = [{ entity: "1", firstId: second.runId, laterId: third.runId, at: world.engine.now() }];
    await world.store.raise({ env: "default", alerts: [{ ...alert, facts: "{}", pairs: more }] });
    await counted(world);
    expect(await seen()).toEqual({ asked: 7, suppressed: 1, slipped: 4, doubledKeys: 2 });
  });

  test("everybody who asked for a group is told in order, in words", async () => {
    const world = await shop(kind);
    const first = await world.send(paid(7));
    await world.advance(10);
    await world.send(paid(7));
    await release(world, "7");
    await world.advance(10);
    const again = await world.send(paid(7));
    await counted(world);
    await world.advance(10);
    const rerun = await world.engine.rerun(first.runId);
    await world.idle();
    const { body } = await world.ask(listAskers, { params: { group: again.runId } });
    expect(body).toMatchObject({ next: null, laterOpen: [] });
    expect(body.group.id).toBe(first.runId);
    expect(body.askers.map(({ place, runId }: any) => [place, runId])).toEqual([
      ["first", first.runId],
      ["suppressed", first.runId],
      ["slipped", again.runId],
      ["rerun", rerun],
    ]);
    expect(body.askers[1].sentence).toContain(`did not start again: run ${first.runId} answers for it`);
    expect((await world.ask(listAskers, { params: { group: "nobody" } })).status).toBe(404);
  });

  test("a group of 40 runs and 200 duplicates is told whole, page by page, each asker once and in order", async () => {
    const world = await shop(kind);
    const sent: { runId: string; eventId: string }[] = [];
    for (let n = 0; n < 40; n++) {
      if (n > 0) await release(world, "7");
      await world.advance(10);
      for (let i = 0; i < 6; i++) sent.push(await world.send(paid(7)));
    }
    const told: any[] = [];
    for (let after: string | null = ""; after !== null; ) {
      const query: Record<string, string> = after === "" ? {} : { after };
      const { body } = await world.ask(listAskers, { params: { group: sent[0]!.runId }, query });
      expect(body.group).toMatchObject({ runCount: 40, counts: { slipped: 39, suppressed: 200 } });
      expect(body.askers.length).toBeLessThanOrEqual(100);
      told.push(...body.askers);
      after = body.next;
    }
    expect(told.map(({ eventId, runId }) => [eventId, runId])).toEqual(
      sent.map(({ eventId, runId }) => [eventId, runId]),
    );
    expect(told.map(({ place }) => place)).toEqual(
      sent.map((_, i) => (i === 0 ? "first" : i % 6 === 0 ? "slipped" : "suppressed")),
    );
  });

  test("functions are listed with the figures of a day", async () => {
    const world = await shop(kind);
    await world.send(paid(1));
    await world.send(paid(1));
    await world.send({ name: "order/failed", data: { orderId: 9 } });
    await world.idle();
    const { body } = await world.ask(listFunctions);
    const day = Object.fromEntries(body.functions.map((each: any) => [each.function, each.day]));
    expect(day["shop-bill"]).toMatchObject({ asked: 2, first: 1, suppressed: 1, failed: 0, p50Ms: 0, ended: 1 });
    expect(day["shop-fragile"]).toMatchObject({ first: 1, failed: 1 });
    expect(day["shop-draft"]).toMatchObject({ asked: 0, p95Ms: null, lastRunAt: null });
  });

  test("runs one by one are listed by how long they took and by when they began, over pages and under a filter", async () => {
    const world = await open(kind);
    await world.start({
      nap: { on: "nap", run: async ({ event, step }) => step.sleep("nap", `${event.data.minutes}m`) },
    });
    for (const minutes of [3, 9, 1, 5, 500]) {
      await world.send({ name: "nap", data: { minutes } });
      await world.advance(1_000);
    }
    for (let passed = 0; passed < 12; passed++) await world.advance(60_000);
    const took = ({ runs: [run] }: any) => Math.round(((run.endedAt ?? world.engine.now()) - run.startedAt) / 60_000);
    const list = async (query: Record<string, string | number>) => {
      const all: number[] = [];
      let before: string | undefined;
      for (;;) {
        const cursor = before === undefined ? {} : { before };
        const page = await groups(world, { group: "none", limit: 2, ...query, ...cursor });
        expect(page.ordered).toBeNull();
        all.push(...page.groups.map(took));
        if (page.next === null) return all;
        before = page.next;
      }
    };
    expect(await list({ order: "longest" })).toEqual([12, 9, 5, 3, 1]);
    expect(await list({ order: "shortest" })).toEqual([1, 3, 5, 9, 12]);
    expect(await list({ order: "started-last" })).toEqual([12, 5, 1, 9, 3]);
    expect(await list({ order: "started-first" })).toEqual([3, 9, 1, 5, 12]);
    expect(await list({ order: "longest", state: "completed" })).toEqual([9, 5, 3, 1]);
    expect(await list({ order: "longest", cel: "event.data.minutes < 6" })).toEqual([5, 3, 1]);
    expect(await list({ order: "longest", fn: "shop-nap", q: "nap" })).toEqual([12, 9, 5, 3, 1]);
    const refused = { status: 400, body: { code: "REQUEST_INVALID" } };
    expect(await world.ask(listGroups, { query: { order: "longest" } })).toMatchObject(refused);
    const spoilt = { group: "none", order: "longest", before: "x.y" };
    expect(await world.ask(listGroups, { query: spoilt })).toMatchObject(refused);
  });
});
