import { expect, onTestFinished, test } from "vitest";
import { z } from "zod";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { Idem } from "./client.ts";
import { dataSchemaOf } from "./data-schema.ts";
import type { EventSchemas } from "./event-types.ts";

const quiet = { debug() {}, info() {}, warn() {}, error() {} };
const paid = z.object({ orderId: z.string().describe("As the shop numbers them"), total: z.number().min(0) });

/** A schema as some library might make it: callable or not, with whatever it has to say about JSON Schema. */
const schemaThat = (input: (options: { readonly target: string }) => unknown) =>
  Object.assign(() => {}, {
    "~standard": {
      version: 1,
      vendor: "other",
      validate: (value: unknown) => ({ value }),
      jsonSchema: { input, output: () => ({ type: "null" }) },
    },
  });

const configOf = (events: EventSchemas, triggers: readonly { event: string }[]) =>
  new Idem({ id: "shop", store: "memory:", events }).createFunction({ id: "fn" }, triggers, () => null).code.config;

test("a function is registered with the JSON Schemas of the events that start it, and no others", () => {
  const events = { "order/paid": paid, "order/lost": z.object({ why: z.string() }), "user/gone": z.object({}) };
  const { dataSchemas } = configOf(events, [{ event: "order/paid" }]);
  expect(Object.keys(dataSchemas!)).toEqual(["order/paid"]);
  expect(JSON.parse(dataSchemas!["order/paid"]!)).toMatchObject({
    type: "object",
    properties: {
      orderId: { type: "string", description: "As the shop numbers them" },
      total: { type: "number", minimum: 0 },
    },
    required: ["orderId", "total"],
  });
  expect(Object.keys(configOf(events, [{ event: "order/*" }]).dataSchemas!)).toEqual(["order/lost", "order/paid"]);
});

test("what a sender gives is described, not what the schema makes of it, and a field JSON has no word for may be anything", () => {
  const text = dataSchemaOf(
    z.object({ at: z.date(), n: z.string().transform(Number), retries: z.number().default(3) }),
  );
  expect(JSON.parse(text!)).toMatchObject({
    properties: { at: {}, n: { type: "string" }, retries: { default: 3 } },
    required: ["at", "n"],
  });
});

test("any library that implements Standard JSON Schema is asked, for an older draft if it knows no newer", () => {
  expect(dataSchemaOf(schemaThat(() => ({ type: "object" })))).toBe('{"type":"object"}');
  const older = schemaThat(({ target }) => {
    if (target !== "draft-07") throw new Error(`unknown target ${target}`);
    return { type: "object", title: target };
  });
  expect(dataSchemaOf(older)).toBe('{"type":"object","title":"draft-07"}');
});

test.each([
  ["a library without JSON Schema", { "~standard": { version: 1, vendor: "v", validate: () => ({ value: 1 }) } }],
  [
    "one that throws",
    schemaThat(() => {
      throw new Error("cannot be represented");
    }),
  ],
  ["an answer that is no object", schemaThat(() => true)],
  ["an answer that contains itself", schemaThat(() => Object.assign({}, { get self() { return this; } }))], // biome-ignore format: one line
  ["32 KiB and more", schemaThat(() => ({ description: "x".repeat(32 * 1024) }))],
])("%s leaves the function as it was without a schema", (_, schema) => {
  const config = configOf({ "order/paid": schema as never }, [{ event: "order/paid" }]);
  expect(config).toEqual(configOf({}, [{ event: "order/paid" }]));
  expect(config).not.toHaveProperty("dataSchemas");
});

test("a wildcard that reaches many large schemas carries only as many as fit", () => {
  const large = schemaThat(() => ({ description: "x".repeat(30 * 1024) }));
  const events = Object.fromEntries(Array.from({ length: 20 }, (_, i) => [`a/${i}`, large as never]));
  const { dataSchemas } = configOf(events, [{ event: "a/*" }]);
  expect(Object.keys(dataSchemas!)).toHaveLength(4);
});

test("the same schema registered again, in whatever order events stand, changes nothing", async () => {
  const platform = new ManualPlatform();
  const store = new MemoryStore(platform);
  const register = async (events: EventSchemas): Promise<number> => {
    const idem = new Idem({ id: "shop", store, events, platform, logger: quiet, radar: false });
    onTestFinished(() => idem.stop({ grace: 0 }));
    idem.createFunction({ id: "charge" }, [{ event: "order/*" }], () => null);
    await idem.start();
    return (await store.reads.functions("default")).registration;
  };
  const lost = () => z.object({ why: z.string() });
  const first = await register({ "order/paid": paid, "order/lost": lost() });
  expect(await register({ "order/lost": lost(), "order/paid": paid })).toBe(first);
  expect(await register({ "order/lost": lost() })).toBeGreaterThan(first);
});
