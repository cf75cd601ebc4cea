// Alerts of the radar are kept once: pairs join the alert that is not closed, a person's word stands, and of many followers one moves on.
import { describe, expect, test } from "vitest";
import { dayMs } from "../../model/window.ts";
import type { AlertPair, NewAlert } from "../alerts.ts";
import { prunedNothing } from "../prune.ts";
import { env, everyWrite, newEvent, type OpenStore, openWorld, startPair } from "./world.ts";

const pair = (laterId: string, over: Partial<AlertPair> = {}): AlertPair => ({
  entity: `"of ${laterId}"`,
  firstId: `first of ${laterId}`,
  laterId,
  at: 10,
  ...over,
});

const alert = (id: string, pairs: readonly AlertPair[], over: Partial<NewAlert> = {}): NewAlert => ({
  id,
  kind: "doubled-runs",
  fn: "shop-bill",
  about: "",
  subject: "event.data.orderId",
  facts: "{}",
  pairs,
  ...over,
});

const said = { env, id: "a1", by: "ada", note: "known", until: null };

export function alertsSuite(open: OpenStore): void {
  describe("alerts", () => {
    test("pairs of one kind and function join one alert, each pair once", async () => {
      const { store } = await openWorld(open);
      const first = await store.raise({ env, alerts: [alert("a1", [pair("r2"), pair("r4", { at: 20 })])] });
      expect(first).toMatchObject([{ isNew: true, added: 2, alert: { id: "a1", state: "open", pairCount: 2 } }]);
      const again = await store.raise({ env, alerts: [alert("a2", [pair("r4"), pair("r6", { at: 30 })])] });
      expect(again).toMatchObject([{ isNew: false, added: 1, alert: { id: "a1", pairCount: 3 } }]);
      expect(await store.reads.alert(env, "a1")).toMatchObject({ firstAt: 10, lastAt: 30, pairCount: 3 });
      const pairs = await store.reads.alertPairs(env, "a1", { limit: 10 });
      expect(pairs.map(({ laterId }) => laterId)).toEqual(["r6", "r4", "r2"]);
      expect(pairs[2]).toEqual(pair("r2"));
      const older = await store.reads.alertPairs(env, "a1", { limit: 1, before: "r4" });
      expect(older.map(({ laterId }) => laterId)).toEqual(["r2"]);
      expect(await store.reads.openAlertCount(env)).toBe(1);
    });

    test("closed alerts past their time are pruned with their pairs, so many rows in a commit; what is not closed stays", async () => {
      const { store, clock } = await openWorld(open);
      const close = (id: string) => store.judge({ ...said, id, verdict: "close" });
      const pairs = ["r1", "r2", "r3", "r4", "r5"].map((id) => pair(id));
      await store.raise({ env, alerts: [alert("a1", pairs), alert("a2", [pair("r2")], { fn: "shop-mail" })] });
      await store.raise({ env, alerts: [alert("a3", [pair("r2")], { fn: "shop-late" })] });
      await close("a1");
      await store.judge({ ...said, id: "a2", verdict: "acknowledge" });
      clock.advance(dayMs);
      const before = clock.wallMs();
      clock.advance(1_000);
      await close("a3");
      const prune = (over: object = {}) => store.prune({ env, before, after: "", max: 4, ...over });
      expect(await prune({ before: 0 })).toMatchObject({ deleted: { alerts: 0, pairs: 0 }, after: null });
      const first = await prune();
      expect(first).toMatchObject({ deleted: { ...prunedNothing, pairs: 4 }, kept: 0, after: "" });
      expect(await prune()).toMatchObject({ deleted: { ...prunedNothing, alerts: 1, pairs: 1 }, kept: 0, after: "" });
      expect(await prune()).toMatchObject({ deleted: prunedNothing, kept: 0, after: null });
      expect(await store.reads.alert(env, "a1")).toBeNull();
      expect(await store.reads.alertPairs(env, "a1", { limit: 10 })).toEqual([]);
      const left = await store.reads.alerts(env, { limit: 10 });
      expect(left.map(({ id, state }) => [id, state]).sort()).toEqual([
        ["a2", "acknowledged"],
        ["a3", "closed"],
      ]);
      expect(await store.reads.alertPairs(env, "a3", { limit: 10 })).toHaveLength(1);
    });

    test("a better guess of what the pairs have in common takes the place of the first", async () => {
      const { store } = await openWorld(open);
      await store.raise({ env, alerts: [alert("a1", [pair("r2")], { subject: "event.data.clientId" })] });
      await store.raise({ env, alerts: [alert("a2", [pair("r2", { entity: "7" }), pair("r4")])] });
      expect(await store.reads.alert(env, "a1")).toMatchObject({ subject: "event.data.orderId", pairCount: 2 });
      expect(await store.reads.alertPairs(env, "a1", { limit: 10 })).toMatchObject([{}, { entity: "7" }]);
    });

    test("another kind, function, environment or thing is another alert", async () => {
      const { store } = await openWorld(open);
      const others = [
        alert("a1", [pair("r2")]),
        alert("a2", [pair("r2")], { kind: "key-missing" }),
        alert("a3", [pair("r2")], { fn: "shop-mail" }),
        alert("a4", [pair("r2")], { about: "rule:twice" }),
      ];
      expect((await store.raise({ env, alerts: others })).map(({ isNew }) => isNew)).toEqual([true, true, true, true]);
      await store.raise({ env: "other", alerts: [alert("a1", [pair("r2")])] });
      const listed = await store.reads.alerts(env, { limit: 10 });
      expect(listed.map(({ id }) => id)).toEqual(["a4", "a3", "a2", "a1"]);
      expect(await store.reads.alerts(env, { limit: 1, before: "a3" })).toMatchObject([{ id: "a2" }]);
      expect(await store.reads.alerts(env, { limit: 9, fn: "shop-mail" })).toMatchObject([{ id: "a3" }]);
      expect(await store.reads.openAlertCount("other")).toBe(1);
    });

    test("a muted alert counts and stays muted until its time is over; then the next pair opens it again", async () => {
      const { store, clock } = await openWorld(open);
      const [raised] = await store.raise({ env, alerts: [alert("a1", [pair("r2")])] });
      const judged = await store.judge({ ...said, verdict: "mute", until: clock.wallMs() + 60_000 });
      expect(judged).toMatchObject({ kind: "judged", alert: { state: "muted", judgedBy: "ada", note: "known" } });
      expect(raised!.alert.state).toBe("open");
      expect(await store.raise({ env, alerts: [alert("a2", [pair("r4")])] })).toMatchObject([
        { isNew: false, alert: { state: "muted", pairCount: 2 } },
      ]);
      expect(await store.reads.openAlertCount(env)).toBe(0);
      clock.advance(61_000);
      expect(await store.raise({ env, alerts: [alert("a3", [pair("r6")])] })).toMatchObject([
        { isNew: true, alert: { id: "a1", state: "open", mutedUntil: null } },
      ]);
    });

    test("after one is closed the next pair opens another, and the closed one is judged no more", async () => {
      const { store } = await openWorld(open);
      await store.raise({ env, alerts: [alert("a1", [pair("r2")])] });
      expect(await store.judge({ ...said, verdict: "close" })).toMatchObject({ alert: { state: "closed" } });
      expect(await store.judge({ ...said, verdict: "acknowledge" })).toMatchObject({ kind: "closed" });
      expect(await store.raise({ env, alerts: [alert("a2", [pair("r4")])] })).toMatchObject([
        { isNew: true, alert: { id: "a2", pairCount: 1 } },
      ]);
      expect(await store.reads.alerts(env, { state: "closed", limit: 9 })).toMatchObject([{ id: "a1" }]);
      expect(await store.judge({ ...said, id: "nobody", verdict: "close" })).toEqual({ kind: "unknown" });
    });

    test("of many who raise the same at once one opens it", async () => {
      const { store } = await openWorld(open);
      const many = await Promise.all(
        Array.from({ length: 6 }, (_, i) => store.raise({ env, alerts: [alert(`a${i}`, [pair("r2"), pair("r4")])] })),
      );
      expect(many.flat().filter(({ isNew }) => isNew)).toHaveLength(1);
      expect(new Set(many.flat().map(({ alert: { id } }) => id)).size).toBe(1);
      expect(await store.reads.alerts(env, { limit: 9 })).toMatchObject([{ pairCount: 2 }]);
    });

    test("of many who follow from one position one moves on", async () => {
      const { store } = await openWorld(open);
      expect(await store.reads.radarPosition(env)).toBeNull();
      const answers = await Promise.all(
        Array.from({ length: 6 }, (_, i) => store.follow({ env, position: `p${i}`, over: 0 })),
      );
      expect(answers.filter(({ kind }) => kind === "moved")).toEqual([{ kind: "moved", version: 1 }]);
      expect(await store.follow({ env, position: "next", over: 1 })).toEqual({ kind: "moved", version: 2 });
      expect(await store.follow({ env, position: "next", over: 1 })).toEqual({ kind: "moved", version: 2 });
      expect(await store.reads.radarPosition(env)).toEqual({ position: "next", version: 2 });
    });

    test("arrivals are events in order, with their decisions and what they were answered with", async () => {
      const { store } = await openWorld(open);
      const registration = null;
      const send = (id: string, callerId: string | null, data = "{}") =>
        store.ingest({
          env,
          registration,
          leaseTo: null,
          events: [newEvent(id, { callerId, data })],
          pairs: [startPair(`run of ${id}`)],
        });
      await send("e2", null);
      await send("e1", "pay-1", '{"amount":1}');
      await send("e3", "pay-1", '{"amount":2}');
      await send("e4", null, JSON.stringify("x".repeat(70_000)));
      const { rows, firsts } = await store.reads.arrivals(env, { after: "e1", before: "e9", limit: 3 });
      expect(rows.map(({ event }) => event.id)).toEqual(["e2", "e3", "e4"]);
      expect(rows[0]!.decisions).toMatchObject([{ kind: "started", runId: "run of e2" }]);
      expect(rows[1]).toMatchObject({ event: { firstEventId: "e1" }, decisions: [{ kind: "duplicate-event" }] });
      expect(rows[2]!.event.data).toBe("null");
      expect(firsts).toMatchObject([{ id: "e1", data: '{"amount":1}' }]);
      expect((await store.reads.arrivals(env, { after: "", before: "e3", limit: 1 })).rows).toMatchObject([
        { event: { id: "e1" } },
      ]);
      expect(await store.reads.arrivals("other", { after: "", before: "z", limit: 9 })).toEqual({
        rows: [],
        firsts: [],
      });
    });

    everyWrite(
      open,
      "a raised alert",
      async ({ store }) =>
        () =>
          store.raise({ env, alerts: [alert("a1", [pair("r2")])] }).then(() => store.reads.alerts(env, { limit: 9 })),
    );

    everyWrite(open, "a judged alert", async ({ store }) => {
      await store.raise({ env, alerts: [alert("a1", [pair("r2")])] });
      return () => store.judge({ ...said, verdict: "acknowledge" });
    });
  });
}
