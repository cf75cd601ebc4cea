// Functions are registered app by app; the registration that pairs were decided by can be told from the present one.
import { describe, expect, test } from "vitest";
import type { RegisterInput } from "../functions.ts";
import type { Store } from "../store.ts";
import { end, env, everyWrite, fn, newEvent, type OpenStore, openWorld, startPair } from "./world.ts";

const shop = (...ids: string[]): RegisterInput => ({
  env,
  app: "shop",
  functions: ids.map((id) => ({ fn: `shop-${id}`, id, config: `{"id":"${id}"}`, crons: [] })),
});

export function functionsSuite(open: OpenStore): void {
  describe("functions", () => {
    test("an environment starts without functions, at registration 0", async () => {
      const { store } = await openWorld(open);
      expect(await store.reads.functions(env)).toEqual({ registration: 0, functions: [] });
    });

    test("registered functions are listed by name", async () => {
      const { store } = await openWorld(open);
      expect(await store.register(shop("b", "a"))).toEqual({ kind: "registered", registration: 1, changed: true });
      expect(await store.reads.functions(env)).toEqual({
        registration: 1,
        functions: [
          { fn: "shop-a", app: "shop", id: "a", config: '{"id":"a"}', pausedAt: null, limits: null },
          { fn: "shop-b", app: "shop", id: "b", config: '{"id":"b"}', pausedAt: null, limits: null },
        ],
      });
    });

    test("registration grows exactly when something changed", async () => {
      const { store } = await openWorld(open);
      await store.register(shop("a", "b"));
      expect(await store.register(shop("b", "a"))).toEqual({ kind: "registered", registration: 1, changed: false });
      const changed = {
        ...shop("a", "b"),
        functions: [{ fn: "shop-a", id: "a", config: "{}", crons: [] }, shop("b").functions[0]!],
      };
      expect(await store.register(changed)).toEqual({ kind: "registered", registration: 2, changed: true });
      expect(await store.register(shop())).toEqual({ kind: "registered", registration: 3, changed: true });
      expect(await store.register(shop())).toEqual({ kind: "registered", registration: 3, changed: false });
    });

    test("a function no longer listed is gone, and comes back when it is listed again", async () => {
      const { store } = await openWorld(open);
      await store.register(shop("a", "b"));
      await store.register(shop("b"));
      expect((await store.reads.functions(env)).functions.map(({ fn }) => fn)).toEqual(["shop-b"]);
      expect(await store.register(shop("a", "b"))).toMatchObject({ registration: 3, changed: true });
      expect((await store.reads.functions(env)).functions.map(({ fn }) => fn)).toEqual(["shop-a", "shop-b"]);
    });

    test("an app leaves the functions of other apps alone", async () => {
      const { store } = await openWorld(open);
      await store.register(shop("a"));
      await store.register({ env, app: "post", functions: [{ fn: "post-a", id: "a", config: "{}", crons: [] }] });
      await store.register(shop());
      expect((await store.reads.functions(env)).functions.map(({ fn }) => fn)).toEqual(["post-a"]);
    });

    test("a name that another app has is refused, and nothing of the call is registered", async () => {
      const { store } = await openWorld(open);
      await store.register(shop("mail-a"));
      const answer = await store.register({
        env,
        app: "shop-mail",
        functions: [
          { fn: "shop-mail-b", id: "b", config: "{}", crons: [] },
          { fn: "shop-mail-a", id: "a", config: "{}", crons: [] },
        ],
      });
      expect(answer).toEqual({ kind: "taken", fn: "shop-mail-a", app: "shop" });
      const { registration, functions } = await store.reads.functions(env);
      expect([registration, functions.length]).toEqual([1, 1]);
    });

    describe("pause", () => {
      const pause = (store: Store, paused: boolean, fn = "shop-a") =>
        store.pause({ env, fn, paused, reason: "a person" });
      const pausedAt = async (store: Store) => (await store.reads.functions(env)).functions.map((f) => f.pausedAt);

      test("a paused function says since when, and registration grows so that others look again", async () => {
        const { store, clock } = await openWorld(open);
        await store.register(shop("a", "b"));
        const at = clock.wallMs();
        expect(await pause(store, true)).toEqual({ kind: "set", registration: 2, pausedAt: at, changed: true });
        expect(await pausedAt(store)).toEqual([at, null]);
        clock.advance(10);
        expect(await pause(store, true)).toEqual({ kind: "set", registration: 2, pausedAt: at, changed: false });
        expect(await pause(store, false)).toEqual({ kind: "set", registration: 3, pausedAt: null, changed: true });
        expect(await pause(store, false)).toEqual({ kind: "set", registration: 3, pausedAt: null, changed: false });
        expect(await pausedAt(store)).toEqual([null, null]);
      });

      test("what was decided before the pause is refused after it", async () => {
        const world = await openWorld(open);
        await world.store.register(shop("a"));
        await pause(world.store, true);
        const input = { env, events: [newEvent("e1")], pairs: [startPair("r1", { fn: "shop-a" })], leaseTo: null };
        expect(await world.store.ingest({ ...input, registration: 1 })).toEqual({
          kind: "stale-registration",
          registration: 2,
        });
      });

      test("open runs of a paused function are leased and go on", async () => {
        const world = await openWorld(open);
        await world.store.register({ env, app: "shop", functions: [{ fn, id: "bill", config: "{}", crons: [] }] });
        await world.start("r1");
        await pause(world.store, true, fn);
        expect((await world.lease()).jobs).toHaveLength(1);
        await world.advance("r1", { next: end("completed") });
        expect(await world.run("r1")).toMatchObject({ state: "completed" });
      });

      test("a pause outlives a new registration, and the time in which the function was gone", async () => {
        const { store, clock } = await openWorld(open);
        await store.register(shop("a"));
        await pause(store, true);
        const at = clock.wallMs();
        await store.register({ ...shop("a"), functions: [{ fn: "shop-a", id: "a", config: "{}", crons: [] }] });
        expect(await pausedAt(store)).toEqual([at]);
        await store.register(shop());
        expect(await pause(store, false)).toEqual({ kind: "unknown" });
        await store.register(shop("a"));
        expect(await pausedAt(store)).toEqual([at]);
      });

      test("a function nobody registered is unknown", async () => {
        const { store } = await openWorld(open);
        expect(await pause(store, true)).toEqual({ kind: "unknown" });
      });

      everyWrite(
        open,
        "pause",
        async ({ store }) => {
          await store.register(shop("a"));
          return () => pause(store, true);
        },
        (answer) => ({ ...answer, changed: "only the first time" }),
      );
    });

    everyWrite(
      open,
      "register",
      async ({ store }) =>
        () =>
          store.register(shop("a", "b")),
      (answer) => ({ ...answer, changed: "only the first time" }),
    );
  });
}
