import { describe, expect, test } from "vitest";
import { apiWorld, stores } from "../../api/api-world.suite.ts";
import { explainSubject } from "./explain-subject.ts";
import { listKeys } from "./list-keys.ts";
import { readKey } from "./read-key.ts";
import { releaseKey } from "./release-key.ts";

const scope = "fn:shop-charge";

async function shop(store: string) {
  const world = await apiWorld({ store });
  await world.start({
    charge: { on: "order/paid", options: { idempotency: "event.data.order" }, run: async () => "charged" },
  });
  const pay = (order: unknown, id?: string) =>
    world.send({ name: "order/paid", data: { order, ...(id === undefined ? {} : { note: id }) }, id });
  return { ...world, pay };
}

describe.each(stores)("keys over /api on %s", (store) => {
  test("keys are listed by scope and key, with how often they were asked for", async () => {
    const world = await shop(store);
    const first = await world.pay(7, "e-1");
    await world.pay(7, "e-2");
    await world.pay("a/b", "e-3");
    await world.idle();
    const { body } = await world.ask(listKeys, { query: { function: "shop-charge" } });
    expect(body).toMatchObject({
      keys: [
        { scope, key: '"a/b"', askedCount: 1 },
        {
          scope,
          key: "7",
          function: "shop-charge",
          holder: first.runId,
          state: "settled",
          isTaken: true,
          askedCount: 2,
        },
      ],
      next: null,
    });
    const ids = await world.ask(listKeys, { query: { scope: "event" } });
    expect(ids.body.keys.map(({ key }: any) => key)).toEqual(["e-1", "e-2", "e-3"]);
    const paged: string[] = [];
    let before: string | null = null;
    do {
      const query: Record<string, string | number> = { limit: 2, ...(before === null ? {} : { before }) };
      const page: any = (await world.ask(listKeys, { query })).body;
      paged.push(...page.keys.map(({ key }: any) => key));
      before = page.next;
    } while (before !== null);
    expect(paged).toEqual(["e-1", "e-2", "e-3", '"a/b"', "7"]);
    expect(await world.ask(listKeys, { query: { function: "a", scope: "b" } })).toMatchObject({ status: 400 });
  });

  test("keys are found by layer, by a part of them, and by what people look for first", async () => {
    const world = await shop(store);
    await world.pay(7, "e-1");
    await world.pay("Anna", "e-2");
    await world.pay("Anna", "e-3");
    await world.idle();
    const keys = async (query: Record<string, string | number>) =>
      (await world.ask(listKeys, { query })).body.keys.map(({ key }: any) => key);
    expect(await keys({ layer: "function" })).toEqual(['"Anna"', "7"]);
    expect(await keys({ layer: "event" })).toEqual(["e-1", "e-2", "e-3"]);
    expect(await keys({ layer: "http" })).toEqual([]);
    expect(await keys({ q: "aNN" })).toEqual(['"Anna"']);
    expect((await keys({ order: "hits", limit: 2 }))[0]).toBe('"Anna"');
    expect(await keys({ order: "ends", layer: "function" })).toHaveLength(2);
    await world.ask(releaseKey, { params: { scope, key: "7" }, body: { reason: "mistake" } });
    expect(await keys({ order: "ends", layer: "function" })).toEqual(['"Anna"']);
    const first = (await world.ask(listKeys, { query: { q: "e-", limit: 2 } })).body;
    expect(first.keys.map(({ key }: any) => key)).toEqual(["e-1", "e-2"]);
    expect(await keys({ q: "e-", limit: 2, before: first.next })).toEqual(["e-3"]);
    expect(await world.ask(listKeys, { query: { layer: "event", scope: "event" } })).toMatchObject({ status: 400 });
  });

  test("a function's key is read with its run and whom it answered; an event's id with its event", async () => {
    const world = await shop(store);
    const first = await world.pay(7, "e-1");
    const second = await world.pay(7, "e-2");
    const third = await world.pay(8, "e-1");
    await world.idle();
    const { body } = await world.ask(readKey, { params: { scope, key: "7" } });
    expect(body).toMatchObject({
      key: { key: "7", askedCount: 2 },
      run: { id: first.runId, state: "completed" },
      event: null,
      earlier: [],
      spared: [
        { eventId: second.eventId, kind: "duplicate-key", differs: ["data.note"] },
        { eventId: third.eventId, kind: "duplicate-event", differs: ["data.order"] },
      ],
    });
    expect(body.summary.join(" ")).toContain("The window of key 7 ends. Until then it is taken.");
    const id = await world.ask(readKey, { params: { scope: "event", key: "e-1" } });
    expect(id.body).toMatchObject({
      run: null,
      event: { internalId: first.eventId },
      duplicates: [{ internalId: third.eventId }],
    });
    expect(await world.ask(readKey, { params: { scope, key: "9" } })).toMatchObject({
      status: 404,
      body: { code: "KEY_UNKNOWN" },
    });
  });

  test("a key is given back only with a reason; the next event starts a run, and the one after is a duplicate of it", async () => {
    const world = await shop(store);
    const { runId } = await world.pay(7);
    await world.idle();
    const params = { scope, key: "7" };
    for (const body of [undefined, {}, { reason: "" }, { reason: "x".repeat(1_001) }]) {
      expect(await world.ask(releaseKey, { params, body })).toMatchObject({ status: 400 });
    }
    const released = await world.ask(releaseKey, { params, body: { reason: "the invoice was deleted by hand" } });
    expect(released.body.key).toMatchObject({ state: "released", isTaken: false });
    const second = await world.pay(7);
    expect(second.runId).not.toBe(runId);
    expect(await world.pay(7)).toMatchObject({ runId: second.runId });
    expect((await world.ask(readKey, { params })).body.earlier).toMatchObject([{ id: runId }]);
    expect(await world.ask(releaseKey, { params: { scope, key: "9" }, body: { reason: "never taken" } })).toMatchObject(
      { status: 404 },
    );
  });
});

describe.each(stores)("explain over /api on %s", (store) => {
  test("tells the story of an event, a run or a key, by whatever id is at hand", async () => {
    const world = await shop(store);
    const { eventId, runId } = await world.pay(7, "e-1");
    await world.pay(7, "e-2");
    await world.idle();
    const explain = async (query: Record<string, string>) =>
      (await world.ask(explainSubject, { query: { ...query, rows: "true" } })).body;
    for (const query of [{ q: eventId }, { q: "e-1" }, { q: "e-1", as: "event" }, { q: eventId, as: "event" }]) {
      expect(await explain(query)).toMatchObject({
        story: { subject: { as: "event", id: eventId } },
        rows: { kind: "event", event: { internalId: eventId } },
      });
    }
    for (const query of [{ q: runId }, { q: runId, as: "run" }]) {
      expect((await explain(query)).rows).toMatchObject({
        kind: "run",
        run: { id: runId },
        spared: [{ kind: "duplicate-key" }],
      });
    }
    const asked = { as: "key", function: "shop-charge" };
    const { summary, rows } = await explain({ ...asked, q: "7" });
    expect(rows).toMatchObject({ kind: "key", key: "7", holder: { id: runId }, askedCount: 2, isTaken: true });
    expect(summary.length).toBeGreaterThan(1);
    expect((await explain({ ...asked, q: "free" })).rows).toMatchObject({ key: '"free"', holder: null });
    expect((await world.ask(explainSubject, { query: { q: runId } })).body.rows).toBe(null);
  });

  test("asks for one subject, and says when there is none", async () => {
    const world = await shop(store);
    for (const query of [{}, { function: "a" }, { q: "a", as: "key" }, { q: "a", as: "entity" }, { q: "a", as: "b" }]) {
      expect(await world.ask(explainSubject, { query: query as any })).toMatchObject({
        status: 400,
        body: { code: "REQUEST_INVALID" },
      });
    }
    for (const query of [{ q: "nobody" }, { q: "nobody", as: "run" }, { q: "nobody", as: "event" }] as const) {
      expect(await world.ask(explainSubject, { query })).toMatchObject({ status: 200, body: { kind: "none" } });
    }
  });
});
