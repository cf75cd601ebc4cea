// What an app's functions say about when, how many and for which events they run (docs/reference/wire.md#a-function-on-the-wire).
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HostedApp } from "./app/messages.ts";
import { World, type WorldOptions } from "./world.ts";

const shop: HostedApp = { id: "shop", adapter: "node", functions: ["flow"] };
// The same without checkpoints: each step is a call of its own.
const depot: HostedApp = { id: "depot", adapter: "express", checkpointing: false, functions: ["flow"] };

export function flowSuite(options: Pick<WorldOptions, "mode" | "registeredBy">): void {
  let world: World;
  beforeAll(async () => {
    world = await World.open({ ...options, apps: [shop, depot] });
  });
  afterAll(() => world?.close());

  const end = (runId: string) => world.rest.end(runId);
  const startAll = (name: string, data: readonly object[]) =>
    world.rest
      .send(name, data)
      .then((ids) => Promise.all(ids.map((id) => world.rest.runOf(id, name.replace("/", "-")))));
  const entered = (runId: string, step: string) =>
    world.host.until((line) => line.kind === "enter" && line.run === runId && line.step === step);
  /** What the runs' steps said, in the order it happened. */
  const notes = (runs: readonly string[]) =>
    world.ledger.flatMap((line) =>
      line.kind === "note" && runs.includes(line.run) ? [{ run: line.run, text: line.text }] : [],
    );

  describe.concurrent("at once", () => {
    test.each(["shop", "depot"])("steps of %s's runs that share a key never overlap", async (app) => {
      const data = [1, 2, 1, 1, 2, 1].map((k) => ({ k }));
      const runs = await startAll(`${app}/alone`, data);
      const ended = await Promise.all(runs.map(end));
      expect(ended.map(({ status }) => status)).toEqual(runs.map(() => "Completed"));
      for (const k of [1, 2]) {
        const said = notes(runs).filter(({ text }) => text.endsWith(` ${k}`));
        expect(said).toHaveLength(4 * data.filter((each) => each.k === k).length);
        for (let i = 0; i < said.length; i += 2) {
          expect([said[i], said[i + 1]]).toEqual([
            { run: said[i]!.run, text: `in ${k}` },
            { run: said[i]!.run, text: `out ${k}` },
          ]);
        }
      }
    });

    test.each(["shop", "depot"])("of %s's steps side by side no more are at work than the limit says", async (app) => {
      const runs = await startAll(`${app}/wide`, [{}, {}, {}]);
      await Promise.all(runs.map(end));
      let open = 0;
      const atWork = notes(runs).map(({ text }) => (text.startsWith("in") ? ++open : --open));
      expect(atWork).toHaveLength(18);
      expect(Math.max(...atWork)).toBeLessThanOrEqual(2);
    });

    test("a run at work keeps out those of its key and no others", async () => {
      const [first, second, other] = await startAll("shop/alone", [{ k: 3, held: true }, { k: 3 }, { k: 4 }]);
      await entered(first!, "one");
      expect(await end(other!)).toMatchObject({ status: "Completed" });
      expect(world.entered(second!)).toEqual([]);
      world.host.release(first!);
      await Promise.all([end(first!), end(second!)]);
      const said = notes([first!, second!]).map(({ run, text }) => `${run === first ? "first" : "second"} ${text}`);
      expect(said.slice(0, 4)).toEqual(["first in 3", "first out 3", "first in 3", "first out 3"]);
      expect(said).toHaveLength(8);
    });

    test("a run that waits for an event keeps nobody out, and the event with its key wakes it", async () => {
      const [first, second] = await startAll("shop/alone", [{ k: 5, waits: true }, { k: 5 }]);
      expect(await end(second!)).toMatchObject({ status: "Completed" });
      expect(world.entered(first!)).toEqual(["one"]);
      await world.rest.send("shop/go-on", [{ k: 6 }, { k: "5" }]);
      await world.rest.send("shop/go-on", [{ k: 5 }]);
      expect(await end(first!)).toMatchObject({ status: "Completed" });
      const [wait] = (await world.rest.timeline(first!)).filter(({ kind }) => kind.startsWith("wait"));
      expect(wait).toMatchObject({ state: "completed", output: { value: { data: { k: 5 } } } });
    });

    test("a limit of the environment is shared by the functions of several apps", async () => {
      const [here] = await startAll("shop/shares", [{ k: 7, held: true }]);
      await entered(here!, "one");
      const [there] = await startAll("depot/shares", [{ k: 7 }]);
      const [passing] = await startAll("depot/alone", [{ k: 8 }]);
      await end(passing!);
      expect(world.entered(there!)).toEqual([]);
      world.host.release(here!);
      await Promise.all([end(here!), end(there!)]);
      expect(notes([here!, there!]).map(({ run }) => run)).toEqual([
        ...Array.from({ length: 4 }, () => here),
        ...Array.from({ length: 4 }, () => there),
      ]);
    });

    test("of those in line the one with the highest priority is next", async () => {
      const [held] = await startAll("shop/ranked", [{ k: 9, rank: 0, held: true }]);
      await entered(held!, "one");
      const [low, middle, high] = await startAll("shop/ranked", [
        { k: 9, rank: -300 },
        { k: 9, rank: 0 },
        { k: 9, rank: 300 },
      ]);
      world.host.release(held!);
      await Promise.all([held, low, middle, high].map((each) => end(each!)));
      const order = [...new Set(notes([held!, low!, middle!, high!]).map(({ run }) => run))];
      expect(order).toEqual([held, high, middle, low]);
    });

    test("starts are spaced by a throttle, and none is lost", async () => {
      const runs = await startAll("shop/spaced", [{ n: 1 }, { n: 2 }]);
      expect(await Promise.all(runs.map(end))).toMatchObject([
        { status: "Completed", output: 1 },
        { status: "Completed", output: 2 },
      ]);
      const [first, second] = await Promise.all(
        runs.map(async (runId) => (await world.rest.get(`/api/runs/${runId}`)).run.startedAt as number),
      );
      expect(Math.abs(second! - first!)).toBeGreaterThanOrEqual(1_000);
    });
  });

  describe.concurrent("for which events", () => {
    test("beyond a rate limit an event starts nothing and says why; another key has its own", async () => {
      const [first, second, other] = await world.rest.send("shop/limited", [{ k: 1 }, { k: 1 }, { k: 2 }]);
      const started = await world.rest.decided(first!, "shop-limited", "started");
      expect(await end(started.runId!)).toMatchObject({ status: "Completed" });
      const refused = await world.rest.decided(second!, "shop-limited", "rate-limited");
      expect(refused).toMatchObject({ runId: null, reason: expect.stringMatching(/limit/) });
      await world.rest.decided(other!, "shop-limited", "started");
      expect((await world.rest.get(`/v1/events/${second}/runs`)).data).toEqual([]);
    });

    test("a debounce starts one run for the last of many events", async () => {
      const ids = await world.host.send(
        "shop",
        [1, 2, 3].map((n) => ({ name: "shop/settles", data: { k: 1, n } })),
      );
      const last = await world.rest.decided(ids[2]!, "shop-settles", "started");
      expect(await end(last.runId!)).toMatchObject({ status: "Completed", output: 3 });
      for (const id of ids.slice(0, 2)) {
        expect(await world.rest.decided(id, "shop-settles", "debounced")).toMatchObject({ runId: last.runId });
      }
      expect(await world.rest.runsOfFunction("shop-settles")).toHaveLength(1);
    });

    test("a key holds through a debounce", async () => {
      const [first] = await world.rest.send("shop/settles-once", [{ order: 7 }]);
      const { runId } = await world.rest.decided(first!, "shop-settles-once", "started");
      expect(await end(runId!)).toMatchObject({ status: "Completed", output: 7 });
      const [second] = await world.rest.send("shop/settles-once", [{ order: 7 }]);
      expect(await world.rest.decided(second!, "shop-settles-once", "duplicate-key")).toMatchObject({ runId });
    });

    test("while a singleton is open its next event is skipped, in another mode cancels it", async () => {
      const [kept] = await startAll("shop/only", [{ k: 1, held: true }]);
      const [replaced] = await startAll("shop/latest", [{ k: 1, held: true }]);
      await Promise.all([entered(kept!, "one"), entered(replaced!, "one")]);
      const [skipped, other] = await world.rest.send("shop/only", [{ k: 1 }, { k: 2 }]);
      const decision = await world.rest.decided(skipped!, "shop-only", "singleton-skipped");
      expect(decision).toMatchObject({ runId: kept });
      await end((await world.rest.decided(other!, "shop-only", "started")).runId!);
      const [newest] = await startAll("shop/latest", [{ k: 1 }]);
      expect(await end(newest!)).toMatchObject({ status: "Completed" });
      expect(await world.rest.run(replaced!)).toMatchObject({ status: "Cancelled" });
      world.host.release(kept!);
      world.host.release(replaced!);
      expect(await end(kept!)).toMatchObject({ status: "Completed" });
      await world.untilLedger(() => notes([replaced!]).some(({ text }) => text === "out 1"));
      expect(world.entered(replaced!)).toEqual(["one"]);
    });

    test("an event cancels the runs it matches and no others", async () => {
      const [one, two, three] = await startAll("shop/cancellable", [
        { order: 1, shop: "a" },
        { order: 2, shop: "a" },
        { order: 3, shop: "b" },
      ]);
      await world.rest.send("shop/withdrawn", [{ order: 2 }, { order: "1" }]);
      expect(await end(two!)).toMatchObject({ status: "Cancelled" });
      expect(await world.rest.run(one!)).toMatchObject({ status: "Running" });
      await world.rest.send("shop/closed", [{ shop: "a" }]);
      expect(await end(one!)).toMatchObject({ status: "Cancelled" });
      expect(await world.rest.run(three!)).toMatchObject({ status: "Running" });
      await world.rest.send("shop/withdrawn", [{ order: 3 }]);
      expect(await end(three!)).toMatchObject({ status: "Cancelled" });
      for (const run of [one!, two!, three!]) expect(world.entered(run)).not.toContain("after");
    });
  });

  describe.concurrent("batches", () => {
    test.each(["shop", "depot"])("a full batch is one run of %s with all of its events, in every call", async (app) => {
      const events = [1, 2, 3].map((n) => ({ name: `${app}/gathers`, data: { n } }));
      const ids = await world.host.send(app, events);
      const decisions = await Promise.all(ids.map((id) => world.rest.decided(id, `${app}-gathers`, "started")));
      const [{ runId }] = decisions as [(typeof decisions)[number]];
      expect(decisions.map((each) => [each.runId, each.reason])).toEqual(
        ids.map(() => [runId, expect.stringContaining("batch of 3")]),
      );
      const all = { event: ids[0], events: ids, data: [1, 2, 3] };
      expect(await end(runId!)).toMatchObject({ status: "Completed", output: { inStep: all, afterwards: all } });
      for (const id of ids) expect(await world.rest.runOf(id, `${app}-gathers`)).toBe(runId);
    });

    test("a batch that does not fill up starts when its time is over", async () => {
      const ids = await world.rest.send("shop/gathers-late", [{ n: 1 }, { n: 2 }]);
      const { runId } = await world.rest.decided(ids[0]!, "shop-gathers-late", "started");
      expect(await end(runId!)).toMatchObject({ status: "Completed", output: { event: ids[0], events: ids } });
    });

    test("each key has its batch, and an event that is not for one runs alone", async () => {
      const [a1, b1, alone, a2] = await world.rest.send("shop/gathers-some", [
        { by: "a", bulk: true },
        { by: "b", bulk: true },
        { by: "a", bulk: false },
        { by: "a", bulk: true },
      ]);
      const { runId } = await world.rest.decided(a1!, "shop-gathers-some", "started");
      expect(await end(runId!)).toMatchObject({ output: { events: [a1, a2] } });
      const single = await world.rest.decided(alone!, "shop-gathers-some", "started");
      expect(await end(single.runId!)).toMatchObject({ output: { events: [alone] } });
      expect(await world.rest.decided(b1!, "shop-gathers-some", "batched")).toMatchObject({ runId: null });
    });

    test("a key that comes twice in a batch is carried once, and the second is told so", async () => {
      const orders = [1, 1, 2].map((order) => ({ order }));
      const [first, second, third] = await world.rest.send("shop/gathers-once", orders);
      const { runId } = await world.rest.decided(first!, "shop-gathers-once", "started");
      expect(await end(runId!)).toMatchObject({ status: "Completed", output: { events: [first, third] } });
      expect(await world.rest.decided(second!, "shop-gathers-once", "duplicate-key")).toMatchObject({ runId });
    });

    test("a batch too large for a call is fetched by the app", async () => {
      const text = "x".repeat(450_000);
      const sent = await Promise.all(
        Array.from({ length: 10 }, (_, n) => world.rest.send("shop/gathers-much", [{ n, text }])),
      );
      const ids = sent.flat();
      const { runId } = await world.rest.decided(ids[0]!, "shop-gathers-much", "started");
      const { output, status } = await end(runId!);
      expect(status).toBe("Completed");
      expect(output.events.toSorted()).toEqual(ids.toSorted());
      expect(output.event).toBe(output.events[0]);
      expect(world.traces.of(runId!).filter((line) => line.startsWith("call"))).toEqual([
        expect.stringMatching(/^call step 0 \(fetched\): 20[06]/),
      ]);
    });
  });

  describe.concurrent("all at once", () => {
    test("an app that uses every option registers, and again without a change", async () => {
      expect(await world.register(shop)).toMatchObject({ status: 200, modified: false });
      const { function: registered } = await world.rest.get("/api/functions/shop-everything");
      expect(registered.triggers).toEqual([
        { event: "shop/everything", if: "event.data.n > 0" },
        { cron: "TZ=Europe/Paris 0 3 * * *" },
      ]);
      expect(registered.flow).toMatchObject({
        concurrency: [{ limit: 5, scope: "fn" }, { scope: "account" }],
        throttle: { burst: 5, periodMs: 60_000 },
        rateLimit: { limit: 100 },
        debounce: { periodMs: 1_000 },
        singleton: { mode: "skip" },
        priority: "event.data.urgent == true ? 60 : 0",
        cancelOn: [{ event: "shop/withdrawn", if: "event.data.k == async.data.k" }],
      });
      const [schedule] = await world.command("crons", "--function", "shop-everything");
      expect(schedule).toMatchObject({ cron: "TZ=Europe/Paris 0 3 * * *", zone: "Europe/Paris" });
      expect(schedule.next.map(({ local }: { local: string }) => local.slice(11, 16))).toContain("03:00");
    });

    test("a function with every option runs", async () => {
      const [id] = await world.rest.send("shop/everything", [{ n: 4, k: 1 }]);
      const { runId } = await world.rest.decided(id!, "shop-everything", "started");
      expect(await end(runId!)).toMatchObject({ status: "Completed", output: 4 });
      const ids = await world.rest.send("shop/everything-gathered", [
        { n: 1, k: 1 },
        { n: 2, k: 1 },
      ]);
      const gathered = await world.rest.decided(ids[1]!, "shop-everything-gathered", "started");
      expect(await end(gathered.runId!)).toMatchObject({ status: "Completed", output: { events: ids, data: [1, 2] } });
    });
  });

  test("what is gathered and who is in line outlive a server that is killed, and its slots are free", async () => {
    const [first] = await world.rest.send("shop/gathers", [{ n: 1 }]);
    const [held, next] = await startAll("shop/alone", [{ k: 20, held: true }, { k: 20 }]);
    await entered(held!, "one");
    await world.killServer();
    await world.startServer();
    const [second, third] = await world.rest.send("shop/gathers", [{ n: 2 }, { n: 3 }]);
    const { runId } = await world.rest.decided(first!, "shop-gathers", "started");
    expect(await end(runId!)).toMatchObject({ output: { afterwards: { events: [first, second, third] } } });
    world.host.release(held!);
    expect(await Promise.all([end(held!), end(next!)])).toMatchObject([
      { status: "Completed" },
      { status: "Completed" },
    ]);
    expect(world.entered(next!)).toEqual(["one", "two"]);
  });
}
