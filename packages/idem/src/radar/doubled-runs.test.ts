import { describe, expect, test } from "vitest";
import type { Event } from "../model/event.ts";
import { findDoubledRuns, type StartedRun } from "./doubled-runs.ts";

const options = { nearMs: 60_000, windowMs: 86_400_000, runsMax: 100_000 };
const fn = { name: "draft-invoice", keyExpression: null };

let ids = 0;
const run = (at: number, data: unknown, over: { key?: string; name?: string } = {}): StartedRun => {
  const id = String(++ids).padStart(8, "0");
  const event: Event = {
    id: `e${id}`,
    callerId: null,
    name: over.name ?? "shop/event",
    data: JSON.stringify(data),
    ts: at,
    extra: null,
    receivedAt: at,
    firstEventId: null,
    sourceRunId: null,
  };
  return { runId: `r${id}`, key: over.key ?? null, createdAt: at, event };
};

const proposal = async (runs: readonly StartedRun[]) =>
  (await findDoubledRuns(fn, runs, options)).byField?.expression ?? null;
const hour = 3_600_000;

describe("the proposed key", () => {
  test("is the most specific identity: not the customer, who has many orders", async () => {
    const runs = [1, 2, 3, 4].flatMap((orderId) => [
      run(orderId * hour, { customerId: 5, orderId }),
      run(orderId * hour + 500, { customerId: 5, orderId }),
    ]);
    expect(await proposal(runs)).toBe("event.data.orderId");
  });

  test("is found in nested data and under names that are no identifiers", async () => {
    const nested = [1, 2].flatMap((id) =>
      [0, 1].map((i) => run(id * hour + i, { body: { placement: { id: `p-${id}` } } })),
    );
    expect(await proposal(nested)).toBe("event.data.body.placement.id");
    const odd = [1, 2].flatMap((id) => [0, 1].map((i) => run(id * hour + i, { "order id": `ord-${id}` })));
    expect(await proposal(odd)).toBe('event.data["order id"]');
  });

  test("is never a field that is the same for all, nor one that is new in every delivery", async () => {
    const runs = [1, 2, 3].flatMap((placementId) =>
      [0, 1].map((i) =>
        run(placementId * hour + i, {
          corpId: "corp-1",
          eventId: `evt-${placementId}-${i}`,
          id: `d-${placementId}-${i}`,
          placementId,
        }),
      ),
    );
    expect(await proposal(runs)).toBe("event.data.placementId");
  });

  test("is made of two fields where neither tells things apart alone", async () => {
    const seats = [1, 2, 3].flatMap((userId) => ["a", "b", "c"].map((orgId) => ({ userId, orgId })));
    // All within a minute, so that a user's seats stand as close together as the two deliveries of one.
    const runs = seats.flatMap((seat, i) => [run(hour + i * 1_000, seat), run(hour + i * 1_000 + 300, seat)]);
    const found = (await findDoubledRuns(fn, runs, options)).byField!;
    expect(found.expression.split(" + '-' + ").sort()).toEqual(["event.data.orgId", "event.data.userId"]);
    expect(found.entities).toMatch(/^pairs of /);
    expect(found.doubled).toHaveLength(9);
  });

  test("is not made of people who merely did two different things in a minute", async () => {
    const runs = Array.from({ length: 40 }, (_, i) => run(i * hour, { userId: i, paymentId: `pay-${i}` }));
    runs.push(run(hour + 5_000, { userId: 1, paymentId: "pay-900" }));
    expect(await proposal(runs)).toBeNull();
  });

  test("prefers, among equals, the field the event is named after", async () => {
    const runs = [1, 2, 3].flatMap((n) =>
      [0, 1].map((i) =>
        run(n * hour + i, { candidateId: n + 100, placementId: n }, { name: "bullhorn/placement.event" }),
      ),
    );
    expect(await proposal(runs)).toBe("event.data.placementId");
  });

  test("joins runs that two event names started", async () => {
    const runs = [1, 2].flatMap((n) => [
      run(n * hour, { placementId: n }, { name: "placement/inserted" }),
      run(n * hour + 900, { placementId: n }, { name: "placement/updated" }),
    ]);
    expect((await findDoubledRuns(fn, runs, options)).byField).toMatchObject({
      entities: "placements",
      entityCount: 2,
    });
  });

  test("times and amounts are never proposed", async () => {
    const runs = [1, 2].flatMap((n) =>
      [0, 1].map(() => run(n * hour, { startedAt: `2026-01-0${n}T00:00:00Z`, amount: n })),
    );
    expect(await proposal(runs)).toBeNull();
  });
});

describe("what counts as doubled", () => {
  test("runs further apart than asked are not, but are said to be answered by the key as well", async () => {
    const runs = [
      run(0, { orderId: 1 }),
      run(10_000, { orderId: 1 }),
      run(2 * hour, { orderId: 1 }),
      run(0, { orderId: 2 }),
      run(3 * hour, { orderId: 2 }),
    ];
    const { byField } = await findDoubledRuns(fn, runs, options);
    expect(byField).toMatchObject({ entityCount: 2, alsoAnswered: 2 });
    expect(byField!.doubled).toMatchObject([{ value: "1", firstAt: 0, lastAt: 10_000 }]);
    expect((await findDoubledRuns(fn, runs, { ...options, nearMs: 5_000 })).byField).toBeNull();
  });

  test("the number 1 and the text 1 are different entities", async () => {
    const runs = [run(0, { orderId: 1 }), run(1, { orderId: "1" }), run(2, { orderId: 2 }), run(3, { orderId: "2" })];
    expect(await proposal(runs)).toBeNull();
  });

  test("two runs of one key inside a minute are found although the function has a key", async () => {
    const keyed = { name: "pay", keyExpression: "event.data.orderId" };
    const runs = [run(0, { orderId: 1 }, { key: "1" }), run(40_000, { orderId: 1 }, { key: "1" })];
    expect((await findDoubledRuns(keyed, runs, options)).byKey).toMatchObject({ isConfigured: true, entityCount: 1 });
  });

  test("more runs than the bound are judged by the newest, and that is said", async () => {
    const runs = Array.from({ length: 20 }, (_, i) => run(i, { orderId: i }));
    expect(await findDoubledRuns(fn, runs, { ...options, runsMax: 10 })).toMatchObject({ runCount: 10, isCut: true });
  });
});
