import { describe, expect, test, vi } from "vitest";
import { apiWorld, stores } from "../../api/api-world.suite.ts";
import { listDecisions } from "./list-decisions.ts";
import { listEvents } from "./list-events.ts";
import { readEvent } from "./read-event.ts";
import { readEventData } from "./read-event-data.ts";
import { search } from "./search.ts";
import { sendEvents } from "./send-events.ts";

const minute = 60_000;

async function shop(store: string) {
  const world = await apiWorld({ store });
  await world.start({
    charge: { on: "order/paid", options: { idempotency: "event.data.order" }, run: async () => "charged" },
    mail: { on: "order/paid", run: async () => null },
  });
  return world;
}

describe.each(stores)("events over /api on %s", (store) => {
  test("events are listed newest first, by name and time, without their data", async () => {
    const world = await shop(store);
    await world.send({ name: "order/paid", id: "o-1", data: { order: 1 } });
    await world.advance(minute);
    await world.send({ name: "other", data: {} });
    await world.advance(minute);
    await world.send({ name: "order/paid", id: "o-2", data: { order: 2 } });
    const list = async (query: Record<string, string | number>) =>
      (await world.ask(listEvents, { query })).body.events.map(({ id, name }: any) => (name === "other" ? name : id));
    expect(await list({})).toEqual(["o-2", "other", "o-1"]);
    expect(await list({ name: "order/paid" })).toEqual(["o-2", "o-1"]);
    expect(await list({ since: "90s" })).toEqual(["o-2", "other"]);
    expect(await list({ until: "1m" })).toEqual(["o-1"]);
    const { body } = await world.ask(listEvents, { query: { limit: 1 } });
    expect(body.events[0]).toMatchObject({ id: "o-2", dataBytes: 11, duplicateOf: null });
    expect(body.events[0]).not.toHaveProperty("data");
    const second = await world.ask(listEvents, { query: { limit: 2, before: body.next } });
    expect(second.body.events.map(({ name }: any) => name)).toEqual(["other", "order/paid"]);
    expect(second.body.next).toBeNull();
  });

  test("a list of events can say what was decided for each", async () => {
    const world = await shop(store);
    await world.send({ name: "order/paid", data: { order: 1 } });
    await world.send({ name: "order/paid", data: { order: 1 } });
    await world.send({ name: "other", data: {} });
    const { body } = await world.ask(listEvents, { query: { decisions: "true" } });
    const kinds = body.events.map(({ decisions }: any) =>
      decisions.map((each: any) => `${each.kind} ${each.function}`),
    );
    expect(kinds.map((each: string[]) => each.sort())).toEqual([
      [],
      ["duplicate-key shop-charge", "started shop-mail"],
      ["started shop-charge", "started shop-mail"],
    ]);
    expect((await world.ask(listEvents)).body.events[0]).not.toHaveProperty("decisions");
  });

  test("events are found by what became of them, for any function or for one", async () => {
    const world = await shop(store);
    await world.send({ name: "order/paid", id: "o-1", data: { order: 1 } });
    await world.send({ name: "order/paid", id: "o-2", data: { order: 1 } });
    await world.send({ name: "other", id: "o-3", data: {} });
    const list = async (query: Record<string, string>) =>
      (await world.ask(listEvents, { query })).body.events.map(({ id }: any) => id);
    expect(await list({ outcome: "nothing" })).toEqual(["o-3"]);
    expect(await list({ outcome: "unheard" })).toEqual(["o-3"]);
    expect(await list({ outcome: "duplicate" })).toEqual(["o-2"]);
    expect(await list({ outcome: "started" })).toEqual(["o-2", "o-1"]);
    expect(await list({ outcome: "started", fn: "shop-charge" })).toEqual(["o-1"]);
    expect(await list({ fn: "shop-mail" })).toEqual(["o-2", "o-1"]);
    expect(await world.ask(listEvents, { query: { outcome: "lost" } })).toMatchObject({
      status: 400,
      body: { code: "REQUEST_INVALID" },
    });
  });

  test("what runs wait for, waited for, or are cancelled by is heard, though it starts none", async () => {
    const world = await apiWorld({ store });
    await world.start({
      ship: {
        on: "order/paid",
        options: { cancelOn: [{ event: "order/refunded" }] },
        run: ({ step }) => step.waitForEvent("packed", { event: "order/packed", timeout: "1h" }),
      },
    });
    const unheard = async () => {
      const { events } = (await world.ask(listEvents, { query: { outcome: "unheard" } })).body;
      return events.map(({ name }: { name: string }) => name);
    };
    const names = ["order/packed", "order/lost", "order/refunded"];
    for (const name of names) await world.send({ name, data: {} });
    expect(await unheard()).toEqual(["order/lost", "order/packed"]);
    const { runId } = await world.send({ name: "order/paid", data: {} });
    await world.idle();
    expect(await unheard()).toEqual(["order/lost"]);
    await world.send({ name: "order/packed", data: {} });
    await world.idle();
    expect(await world.store.reads.run("default", runId)).toMatchObject({ state: "completed" });
    expect(await unheard()).toEqual(["order/lost"]);
    const found = async (q: string) => (await world.ask(search, { query: { q } })).body.unheard;
    expect(await found("order/packed")).toBeNull();
    expect(await found("order/refunded")).toBeNull();
    expect(await found("order/lost")).toMatchObject({ recentCount: 1 });
  });

  test("what was decided is one look for a page, however long it is", async () => {
    const world = await shop(store);
    for (let order = 0; order < 30; order++) await world.send({ name: "order/paid", data: { order } });
    const { reads } = world.store;
    const each = vi.spyOn(reads, "decisionsOfEvent");
    const all = vi.spyOn(reads, "decisionsOfEvents");
    const { body } = await world.ask(listEvents, { query: { decisions: "true", limit: 30 } });
    expect(body.events.map(({ decisions }: any) => decisions.length)).toEqual(new Array(30).fill(2));
    expect([each.mock.calls.length, all.mock.calls.length]).toEqual([0, 1]);
  });

  test("an event is read by either id, with decisions, runs and what came again", async () => {
    const world = await shop(store);
    const { eventId, runId } = await world.send({ name: "order/paid", id: "o-1", data: { order: 1 } });
    const again = await world.send({ name: "order/paid", id: "o-1", data: { order: 1, note: "again" } });
    for (const event of [eventId, "o-1"]) {
      const { status, body } = await world.ask(readEvent, { params: { event } });
      expect(status).toBe(200);
      expect(body).toMatchObject({
        event: { internalId: eventId, id: "o-1", data: { value: { order: 1 }, bytes: 11, isOmitted: false } },
        first: null,
        duplicates: [{ internalId: again.eventId, duplicateOf: eventId }],
        decisions: [
          { function: "shop-charge", kind: "started", runId, key: "1" },
          { function: "shop-mail", kind: "started" },
        ],
      });
      expect(body.runs.map(({ id }: any) => id)).toContain(runId);
    }
    const duplicate = await world.ask(readEvent, { params: { event: again.eventId } });
    expect(duplicate.body).toMatchObject({
      first: { internalId: eventId },
      decisions: [{ kind: "duplicate-event", runId, differs: ["data.note"] }, { kind: "duplicate-event" }],
      runs: [],
    });
    expect(await world.ask(readEvent, { params: { event: "nobody" } })).toMatchObject({
      status: 404,
      body: { code: "SUBJECT_UNKNOWN" },
    });
  });

  test("large data is left out of the event and has an address of its own, byte for byte", async () => {
    const world = await shop(store);
    const { eventId } = await world.send({ name: "big", data: { text: "x".repeat(100_000) } });
    const { body } = await world.ask(readEvent, { params: { event: eventId } });
    expect(body.event.data).toEqual({ value: null, bytes: 100_011, isOmitted: true });
    const whole = await world.ask(readEventData, { params: { event: eventId } });
    expect(whole.body.text).toHaveLength(100_000);
    expect(await world.ask(readEventData, { params: { event: "nobody" } })).toMatchObject({ status: 404 });
  });

  test("a person who sends is told what was decided, and the second time that it was a duplicate", async () => {
    const world = await shop(store);
    const event = { name: "order/paid", id: "o-1", data: { order: 1 } };
    const first = await world.ask(sendEvents, { body: { events: [event] } });
    expect(first.body).toMatchObject({ decisions: [{ kind: "started" }, { kind: "started" }], unmatched: false });
    const second = await world.ask(sendEvents, { body: { events: [event, { name: "nobody/listens" }] } });
    expect(second.body.ids).toHaveLength(2);
    expect(second.body.decisions).toMatchObject([
      { kind: "duplicate-event", runId: first.body.decisions[0].runId, firstEventId: first.body.ids[0] },
      { kind: "duplicate-event" },
    ]);
    expect((await world.ask(sendEvents, { body: { events: [{ name: "nobody/listens" }] } })).body.unmatched).toBe(true);
  });

  test("what cannot be sent is refused whole, with the reason", async () => {
    const world = await shop(store);
    const refused = async (body: unknown) => (await world.ask(sendEvents, { body })).body;
    expect(await refused({ events: [{ name: "a" }, { name: "inngest/x" }] })).toMatchObject({ code: "EVENT_INVALID" });
    expect(await refused({ events: [] })).toMatchObject({ code: "REQUEST_INVALID" });
    expect(await refused({ name: "a" })).toMatchObject({ code: "REQUEST_INVALID" });
    expect(await refused({ events: [{ name: "a" }], window: "soon" })).toMatchObject({ code: "DURATION_INVALID" });
    expect(await refused("{")).toMatchObject({ code: "BODY_INVALID" });
    expect((await world.ask(listEvents)).body.events).toEqual([]);
  });

  test("decisions are listed newest first, by kind and function, page by page", async () => {
    const world = await shop(store);
    for (const order of [1, 1, 2]) await world.send({ name: "order/paid", data: { order } });
    const list = async (query: Record<string, string | number>) =>
      (await world.ask(listDecisions, { query })).body.decisions.map(
        (each: any) => `${each.function} ${each.kind} ${each.key ?? "-"}`,
      );
    expect(await list({ function: "shop-charge" })).toEqual([
      "shop-charge started 2",
      "shop-charge duplicate-key 1",
      "shop-charge started 1",
    ]);
    expect(await list({ kind: "duplicate-key,duplicate-event" })).toEqual(["shop-charge duplicate-key 1"]);
    const all = await list({});
    expect(all).toHaveLength(6);
    const paged: string[] = [];
    let before: string | null = null;
    do {
      const query: Record<string, string | number> = { limit: 1, ...(before === null ? {} : { before }) };
      const { body } = await world.ask(listDecisions, { query });
      paged.push(...body.decisions.map((each: any) => `${each.function} ${each.kind} ${each.key ?? "-"}`));
      before = body.next;
    } while (before !== null);
    expect(paged).toEqual(all);
    for (const query of [{ kind: "vanished" }, { before: "x" }, { colour: "red" }]) {
      expect(await world.ask(listDecisions, { query: query as any })).toMatchObject({
        status: 400,
        body: { code: "REQUEST_INVALID" },
      });
    }
  });
});
