import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { z } from "zod";
import { IdemError } from "../model/errors.ts";
import { stores } from "../testing/one-run.suite.ts";
import { testIdem } from "../testing/test-idem.ts";

const cycle: Record<string, unknown> = {};
cycle.self = cycle;
const deep = (levels: number): unknown => (levels === 0 ? 1 : { in: deep(levels - 1) });

const hostile: [string, unknown][] = [
  ["nothing", undefined],
  ["null", null],
  ["a word", "a/b"],
  ["a number", 7],
  ["a function", () => null],
  ["a list inside the list", [[]]],
  ["no name", { data: {} }],
  ["an empty name", { name: "" }],
  ["a name that is no text", { name: 7 }],
  ["a name too long", { name: "a".repeat(257) }],
  ["a name with a line break", { name: "a/b\nc" }],
  ["a name with half a character", { name: "a/\ud800" }],
  ["a name that ends in a star", { name: "a/*" }],
  ["a reserved name", { name: "inngest/function.failed" }],
  ["a reserved name in capitals", { name: "Idem/x" }],
  ["an empty id", { name: "a/b", id: "" }],
  ["an id that is no text", { name: "a/b", id: 7 }],
  ["an id too long", { name: "a/b", id: "x".repeat(1_025) }],
  ["an id with half a character", { name: "a/b", id: "\udc00" }],
  ["data that is a list", { name: "a/b", data: [1] }],
  ["data that is a word", { name: "a/b", data: "x" }],
  ["data that is a Date", { name: "a/b", data: new Date(0) }],
  ["data that is a Map", { name: "a/b", data: new Map() }],
  ["NaN in data", { name: "a/b", data: { n: Number.NaN } }],
  ["a BigInt in data", { name: "a/b", data: { n: 1n } }],
  ["a function in data", { name: "a/b", data: { f() {} } }],
  ["data that contains itself", { name: "a/b", data: cycle }],
  ["data too deep", { name: "a/b", data: deep(100) }],
  ["data far too deep", { name: "a/b", data: deep(5_000) }],
  ["data too large", { name: "a/b", data: { x: "x".repeat(512 * 1024) } }],
  ["too many values", { name: "a/b", data: { list: Array(100_001).fill(1) } }],
  ["seconds for milliseconds", { name: "a/b", ts: 1_767_225_600 }],
  ["a far date", { name: "a/b", ts: 8.64e15 }],
  ["half a millisecond", { name: "a/b", ts: 1_767_225_600_000.5 }],
  ["a ts in words", { name: "a/b", ts: "now" }],
  ["NaN for a ts", { name: "a/b", ts: Number.NaN }],
  ["a v that is no text", { name: "a/b", v: 7 }],
  ["a user that JSON cannot carry", { name: "a/b", user: { n: 1n } }],
  [
    "a getter that throws",
    {
      get name(): string {
        throw new Error("no name for you");
      },
    },
  ],
  [
    "data with a getter that throws",
    {
      name: "a/b",
      data: {
        get x(): string {
          throw new Error("no x for you");
        },
      },
    },
  ],
];

describe.each(stores)("bad input on %s", (store) => {
  test.each(hostile)("%s is refused with a code, and nothing of the call is stored", async (_, bad) => {
    const { idem } = testIdem({ store });
    idem.createFunction({ id: "fn" }, { event: "a/*" }, async () => null);
    await idem.start();
    for (const call of [[bad], [{ name: "a/fine", id: "fine" }, bad], [bad, { name: "a/fine", id: "fine" }]]) {
      const error = await idem.send(call as any).catch((caught) => caught);
      expect(error).toBeInstanceOf(IdemError);
    }
    expect(await idem.events.list()).toEqual([]);
    expect(await idem.runs.list()).toEqual([]);
    // The id of the good one beside it was not taken either.
    expect((await idem.send({ name: "a/fine", id: "fine" })).decisions).toMatchObject([{ kind: "started" }]);
  });

  test("whatever is accepted reads back equal; whatever is refused leaves nothing", async () => {
    const { idem } = testIdem({ store });
    idem.createFunction(
      { id: "fn", idempotency: "event.data.key" },
      { event: "odd/*" },
      async ({ event }) => event.data,
    );
    await idem.start();
    const value = fc.anything({ withBigInt: true, withDate: true, withNullPrototype: true, withSparseArray: true });
    const jsonData = fc.dictionary(
      fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom("__proto__", "constructor", "toString", "key")),
      fc.jsonValue(),
    );
    const odd = fc.record(
      {
        name: fc.oneof(
          fc.string({ unit: "binary", maxLength: 20 }).map((text) => `odd/${text}`),
          value,
        ),
        data: fc.oneof(jsonData, value),
        id: fc.oneof(fc.string({ unit: "binary" }), value),
        ts: fc.oneof(fc.integer({ min: Date.UTC(1980), max: Date.UTC(2099) }), value),
      },
      { requiredKeys: ["name"] },
    );
    // Half of them can be accepted by construction, so that both halves of the promise are tried in every run of this test.
    const plain = fc.record({ name: fc.stringMatching(/^[a-z]{1,20}$/).map((text) => `odd/${text}`), data: jsonData });
    let accepted = 0;
    await fc.assert(
      fc.asyncProperty(
        fc.oneof(plain, odd) as fc.Arbitrary<{ name: unknown; data?: unknown; id?: unknown; ts?: unknown }>,
        async (event) => {
          const before = (await idem.events.list({ limit: 1 }))[0]?.internalId;
          let ids: readonly string[];
          try {
            ({ ids } = await idem.send(event as any));
          } catch (error) {
            expect(error).toBeInstanceOf(IdemError);
            expect((await idem.events.list({ limit: 1 }))[0]?.internalId).toBe(before);
            return;
          }
          accepted++;
          const stored = (await idem.events.get(ids[0]!))!;
          expect(stored.name).toBe(event.name);
          const sent = JSON.stringify(event.data ?? {}, (_, part) => (Object.is(part, -0) ? "minus zero" : part));
          const read = JSON.stringify(stored.data, (_, part) => (Object.is(part, -0) ? "minus zero" : part));
          expect(read).toBe(sent);
          if (typeof event.id === "string") expect(stored.id).toBe(event.id);
          if (typeof event.ts === "number") expect(stored.ts).toBe(event.ts);
        },
      ),
      { numRuns: 300 },
    );
    expect(accepted).toBeGreaterThan(20);
    expect((await idem.send({ name: "odd/last", data: { key: "last" } })).decisions).toMatchObject([
      { kind: "started" },
    ]);
  });

  test("keys of prototypes are data like any other, and change no object of ours", async () => {
    const { idem } = testIdem({ store });
    idem.createFunction({ id: "fn", idempotency: "event.data.key" }, { event: "a/b" }, async ({ event, step }) =>
      step.run("echo", () => event.data),
    );
    await idem.start();
    const data = JSON.parse('{"key":1,"__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}');
    const { decisions } = await idem.send({ name: "a/b", data });
    const { output } = await idem.runs.wait(decisions[0]!.runId!);
    expect(JSON.stringify(output)).toBe(JSON.stringify(data));
    expect(({} as any).polluted).toBeUndefined();
  });
});

test("an empty list stores nothing and is no error", async () => {
  const { idem } = testIdem();
  expect(await idem.send([])).toEqual({ ids: [], decisions: [], unmatched: true });
});

test("more than 5,000 events in one call are refused whole", async () => {
  const { idem } = testIdem();
  const events = Array.from({ length: 5_001 }, () => ({ name: "a/b" }));
  await expect(idem.send(events)).rejects.toMatchObject({ code: "EVENT_BATCH_TOO_LARGE" });
  expect(await idem.events.list()).toEqual([]);
});

test("an event that does not fit its schema is refused with the path, and nothing of its call is stored", async () => {
  const { idem } = testIdem({
    events: { "order/paid": z.object({ order: z.object({ total: z.number() }) }), "a/b": z.object({}) },
  });
  const error = await idem
    .send([{ name: "a/b", data: {} }, { name: "order/paid", data: { order: { total: "10" } } } as any])
    .catch((caught) => caught);
  expect(error).toMatchObject({ code: "EVENT_SCHEMA" });
  expect(error.message).toContain("data.order.total");
  expect(error.message).toContain("Event 2 of 2");
  expect(await idem.events.list()).toEqual([]);
});

test("a window of one send: its ids are free again when it is over", async () => {
  const { idem, clock } = testIdem({ eventWindow: "1h" });
  idem.createFunction({ id: "fn" }, { event: "a/b" }, async () => null);
  await idem.start();
  const send = async (options?: { window: string }) =>
    (await idem.send({ id: "x", name: "a/b" }, options)).decisions[0]!.kind;
  expect(await send({ window: "1m" })).toBe("started");
  await clock.advance(59_999);
  expect(await send()).toBe("duplicate-event");
  await clock.advance(1);
  expect(await send()).toBe("started");
  await clock.advance("59m");
  expect(await send()).toBe("duplicate-event");
  for (const window of ["0s", "soon", -1]) {
    await expect(idem.send({ name: "a/b" }, { window })).rejects.toBeInstanceOf(IdemError);
  }
});

test("the schema of `*` is that of every name without one, and of nothing that Idem tells itself", async () => {
  const { idem, clock } = testIdem({
    store: "memory:",
    events: { "order/paid": z.object({ order: z.string() }), "*": z.object({ tenant: z.string() }) },
  });
  const heard: string[] = [];
  idem.createFunction({ id: "any" }, { event: "other/thing" }, () => {});
  idem.createFunction({ id: "end" }, { event: "inngest/function.finished" }, ({ event }) => heard.push(event.name));
  await idem.start();
  await expect(idem.send({ name: "other/thing", data: { order: "1" } as never })).rejects.toMatchObject({
    code: "EVENT_SCHEMA",
    message: expect.stringContaining("data.tenant"),
  });
  await idem.send([
    { name: "order/paid", data: { order: "1" } },
    { name: "other/thing", data: { tenant: "1" } },
  ]);
  await clock.advanceToEnd();
  expect(heard).toEqual(["inngest/function.finished"]);
});
