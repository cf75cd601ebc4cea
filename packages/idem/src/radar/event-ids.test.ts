import { describe, expect, test } from "vitest";
import type { Event } from "../model/event.ts";
import { findEventIdMistakes } from "./event-ids.ts";

const options = { nearMs: 60_000, eventsMax: 100_000 };
const start = Date.UTC(2026, 4, 8);

let ids = 0;
const sent = (callerId: string | null, over: Partial<Event> & { body?: unknown } = {}): Event => {
  const { body = {}, ...rest } = over;
  return {
    id: String(++ids),
    callerId,
    name: "cart/checkout.completed",
    data: JSON.stringify(body),
    ts: start,
    extra: null,
    receivedAt: start + ids * 600_000,
    firstEventId: null,
    sourceRunId: null,
    ...rest,
  };
};

const kinds = async (events: readonly Event[]) =>
  (await findEventIdMistakes(events, options)).map(({ kind, level }) => `${level} ${kind}`);

describe("ids that never repeat", () => {
  test.each([
    ["milliseconds", (ms: number) => `checkout-${ms}`],
    ["seconds", (ms: number) => `checkout-${Math.floor(ms / 1000)}`],
    ["an ISO time", (ms: number) => `checkout-${new Date(ms).toISOString()}`],
  ])("hold the time of sending: %s", async (_, idAt) => {
    const events = [1, 2, 3].map((i) =>
      sent(idAt(start + i * 2_000), { receivedAt: start + i * 2_000, body: { cartId: `c-${i}` } }),
    );
    expect(await kinds(events)).toEqual(["problem id-with-timestamp"]);
  });

  test("hold a random part: a note, and a problem once the same data came under two of them", async () => {
    const uuid = (i: number) => `3f2b6c1e-8d4a-4c1b-9e2f-00000000000${i}`;
    const different = [1, 2, 3].map((i) => sent(`checkout-${uuid(i)}`, { body: { cartId: `c-${i}` } }));
    expect(await kinds(different)).toEqual(["note id-with-random-part"]);
    const same = [1, 2].map((i) => sent(`checkout-${uuid(i)}`, { receivedAt: start + i, body: { cartId: "c-1" } }));
    expect(await kinds(same)).toEqual(["problem id-with-random-part"]);
  });

  test("are fine when their parts come from the data, however random they look", async () => {
    const carts = ["3f2b6c1e-8d4a-4c1b-9e2f-4d5e6f708192", "9a8b7c6d-1111-4222-8333-abcdefabcdef"];
    expect(await kinds(carts.map((cartId) => sent(`checkout-completed-${cartId}`, { body: { cartId } })))).toEqual([]);
    expect(await kinds([1, 2, 3].map((i) => sent(`invoice-paid-${i}`, { body: { invoiceId: i } })))).toEqual([]);
  });

  test("are fine once one of them was recognised again", async () => {
    const at = start + 5;
    const events = ["a", "a", "b"].map((part) => sent(`checkout-${at}-${part}`, { receivedAt: at, body: {} }));
    expect(await kinds(events)).toEqual([]);
  });
});

test("one event name sent with and without an id", async () => {
  expect(await kinds([sent("account-created-1"), sent(null)])).toEqual(["problem sent-with-and-without-id"]);
});

test("one id under two event names", async () => {
  const found = await findEventIdMistakes([sent("abc123"), sent("abc123", { name: "cart/item.deleted" })], options);
  expect(found).toMatchObject([
    { kind: "id-under-two-names", facts: { id: "abc123", names: ["cart/checkout.completed", "cart/item.deleted"] } },
  ]);
});

test("events that steps send are nobody's mistake", async () => {
  expect(await kinds([sent("account-created-1"), sent(null, { sourceRunId: "run" })])).toEqual([]);
});
