// Against the real packages of OpenTelemetry: what is registered, found, nested and exported.
import { context, ROOT_CONTEXT, SpanKind, SpanStatusCode, type Tracer, trace } from "@opentelemetry/api";
import { describe, expect, test, vi } from "vitest";
import type { OpenTelemetry, OtelTracer } from "../platform/open-telemetry.ts";
import { registeredTelemetry } from "../platform/open-telemetry.ts";
import { idOf, parentOf, recordSpans, tracedWorld, traceOfSpan } from "./recorded-spans.suite.ts";
import { spanKinds, spans } from "./span-list.ts";

const seconds = 1_000;

test("a run is one trace: the event, the pass over its code, each attempt, each effect", async () => {
  const recorded = recordSpans();
  const { client, settle } = tracedWorld();
  const idem = client();
  idem.createFunction({ id: "bill", idempotency: "event.data.order" }, { event: "order/paid" }, async ({ step }) => {
    await step.run("price", () => 10);
    await step.effect("charge", { destination: "stripe", entity: "order-7" }, () => ({ id: "ch_1" }));
    return "billed";
  });
  await idem.start();
  await idem.send({ name: "order/paid", id: "o7", data: { order: 7 } });
  await settle();

  const sent = recorded.one("send order/paid");
  const run = recorded.one("run bill");
  const charge = recorded.one("step charge");
  const effect = recorded.one("effect stripe");
  expect(parentOf(sent)).toBeUndefined();
  expect(parentOf(run)).toBe(idOf(sent));
  expect(parentOf(recorded.one("step price"))).toBe(idOf(run));
  expect(parentOf(charge)).toBe(idOf(run));
  expect(parentOf(effect)).toBe(idOf(charge));
  expect(new Set(recorded.all().map(traceOfSpan)).size).toBe(1);
  expect(recorded.all().length).toBe(5);
  expect(sent.kind).toBe(SpanKind.PRODUCER);
  expect(run.attributes).toMatchObject({
    "faas.trigger": "pubsub",
    "idem.function.id": "bill",
    "idem.key": "7",
    "idem.run.outcome": "completed",
    "messaging.message.id": "o7",
  });
  expect(effect.attributes).toMatchObject({
    "idem.effect.destination": "stripe",
    "idem.effect.entity": "order-7",
    "idem.effect.outcome": "sent",
  });
});

test("a run that sleeps for days and is taken up by another process goes on in its trace, and nothing is traced twice", async () => {
  const recorded = recordSpans();
  const { client, advance, settle } = tracedWorld();
  const open = () => {
    const idem = client();
    idem.createFunction({ id: "remind" }, { event: "order/paid" }, async ({ step }) => {
      await step.run("note", () => 1);
      await step.sleep("a-week", "7d");
      await step.run("mail", () => 2);
    });
    return idem;
  };
  const first = open();
  await first.start();
  await first.send({ name: "order/paid", data: {} });
  await settle();
  await first.stop();
  const second = open();
  await second.start();
  await advance(8 * 24 * 3_600 * seconds);

  const sent = recorded.one("send order/paid");
  const passes = recorded.named("run remind");
  expect(passes.map((span) => span.attributes["idem.run.outcome"])).toEqual(["waiting", "completed"]);
  expect(passes.map((span) => span.attributes["idem.run.replayed"])).toEqual([0, 2]);
  for (const pass of passes) expect([traceOfSpan(pass), parentOf(pass)]).toEqual([traceOfSpan(sent), idOf(sent)]);
  expect(parentOf(recorded.one("step note"))).toBe(idOf(passes[0]!));
  expect(parentOf(recorded.one("step a-week"))).toBe(idOf(passes[0]!));
  expect(parentOf(recorded.one("step mail"))).toBe(idOf(passes[1]!));
  expect(recorded.one("step a-week").attributes["idem.wait.until"]).toMatch(/^\d{4}-\d\d-\d\dT/);
});

test("each attempt of a step is a span with its number, and one that failed has its error and when the next begins", async () => {
  const recorded = recordSpans();
  const { client, advance } = tracedWorld();
  const idem = client();
  let tries = 0;
  idem.createFunction({ id: "charge", retries: 2 }, { event: "order/paid" }, async ({ step }) => {
    await step.run("pay", () => {
      if (++tries < 3) throw new RangeError(`refused ${tries}`);
      return "ch_1";
    });
  });
  await idem.start();
  await idem.send({ name: "order/paid", data: {} });
  await advance(24 * 3_600 * seconds);

  const attempts = recorded.named("step pay");
  expect(attempts.map((span) => span.attributes["idem.attempt"])).toEqual([1, 2, 3]);
  expect(attempts.map((span) => span.attributes["error.type"])).toEqual(["RangeError", "RangeError", undefined]);
  expect(attempts[0]!.status).toEqual({ code: SpanStatusCode.ERROR, message: "refused 1" });
  expect(attempts[0]!.events[0]).toMatchObject({
    name: "exception",
    attributes: { "exception.type": "RangeError", "exception.message": "refused 1" },
  });
  expect(attempts[0]!.attributes["idem.retry_at"]).toMatch(/Z$/);
  expect(attempts[2]!.attributes["idem.retry_at"]).toBeUndefined();
});

test("a run that fails says so with the error of its code", async () => {
  const recorded = recordSpans();
  const { client, settle } = tracedWorld();
  const idem = client();
  idem.createFunction({ id: "charge", retries: 0 }, { event: "order/paid" }, () => {
    throw Object.assign(new Error("no such card"), { code: "CARD_UNKNOWN" });
  });
  await idem.start();
  await idem.send({ name: "order/paid", data: {} });
  await settle();
  const { attributes, status } = recorded.one("run charge");
  expect(attributes).toMatchObject({ "idem.run.outcome": "failed", "error.type": "CARD_UNKNOWN" });
  expect(status).toEqual({ code: SpanStatusCode.ERROR, message: "no such card" });
});

describe("an event that comes again", () => {
  const shop = async () => {
    const recorded = recordSpans();
    const world = tracedWorld();
    const idem = world.client();
    idem.createFunction({ id: "bill", idempotency: "event.data.order" }, { event: "order/*" }, () => 1);
    await idem.start();
    return { recorded, idem, ...world };
  };

  test("with the same key leaves a span that says why no run started, linked to the trace of the first", async () => {
    const { recorded, idem, settle } = await shop();
    const { decisions } = await idem.send({ name: "order/paid", data: { order: 7 } });
    await idem.send({ name: "order/changed", data: { order: 7 } });
    await settle();
    const first = recorded.one("send order/paid");
    const second = recorded.one("send order/changed");
    const suppressed = recorded.one("duplicate-key bill");
    expect(traceOfSpan(second)).not.toBe(traceOfSpan(first));
    expect(parentOf(suppressed)).toBe(idOf(second));
    expect(suppressed.links.map(({ context }) => [context.traceId, context.spanId])).toEqual([
      [traceOfSpan(first), idOf(first)],
    ]);
    expect(suppressed.attributes).toMatchObject({
      "idem.decision": "duplicate-key",
      "idem.decision.reason": `key 7 is taken by run ${decisions[0]!.runId}`,
      "idem.suppressed_by": decisions[0]!.runId,
      "idem.key": "7",
    });
    expect(recorded.named("run bill").length).toBe(1);
  });

  test("in thousands asks the store for the first of each key once, and for no more than a hundred at a time", async () => {
    const { recorded, idem, settle, store } = await shop();
    const orders = Array.from({ length: 150 }, (_, order) => ({ name: "order/paid", data: { order } }));
    await idem.send(orders);
    await settle();
    const asked = vi.spyOn(store.reads, "run");
    await idem.send([...orders, ...orders].map((event) => ({ ...event, name: "order/changed" })));
    await settle();
    expect(asked).toHaveBeenCalledTimes(100);
    const suppressed = recorded.named("duplicate-key bill");
    expect(suppressed.length).toBe(300);
    expect(suppressed.filter(({ links }) => links.length === 1).length).toBe(200);
  });

  test("with the same id names the event that was first", async () => {
    const { recorded, idem, settle } = await shop();
    const first = await idem.send({ name: "order/paid", id: "o7", data: { order: 7 } });
    await idem.send({ name: "order/paid", id: "o7", data: { order: 7 } });
    await settle();
    const [one, two] = recorded.named("send order/paid");
    expect(one!.attributes["idem.duplicate_of"]).toBeUndefined();
    expect(two!.attributes["idem.duplicate_of"]).toBe(first.ids[0]);
    expect(recorded.one("duplicate-event bill").links[0]!.context.traceId).toBe(traceOfSpan(one!));
  });
});

test("what a run invokes and sends are children of the step that did", async () => {
  const recorded = recordSpans();
  const { client, settle } = tracedWorld();
  const idem = client();
  const child = idem.createFunction({ id: "price" }, () => 10);
  idem.createFunction({ id: "ship" }, { event: "order/billed" }, () => 1);
  idem.createFunction({ id: "bill" }, { event: "order/paid" }, async ({ step }) => {
    await step.invoke("ask-price", { function: child });
    await step.sendEvent("tell", { name: "order/billed", data: {} });
  });
  await idem.start();
  await idem.send({ name: "order/paid", data: {} });
  await settle();
  expect(parentOf(recorded.one("run price"))).toBe(idOf(recorded.one("step ask-price")));
  expect(parentOf(recorded.one("run ship"))).toBe(idOf(recorded.one("step tell")));
  expect(new Set(recorded.all().map(traceOfSpan)).size).toBe(1);
});

test("a tick of a schedule begins a trace, once however many processes ask for it", async () => {
  const recorded = recordSpans();
  const { client, advance } = tracedWorld();
  for (let i = 0; i < 2; i++) {
    const idem = client();
    idem.createFunction({ id: "report" }, { cron: "0 * * * *" }, () => 1);
    await idem.start();
  }
  await advance(3_600 * seconds);
  const tick = recorded.one("tick report");
  const run = recorded.one("run report");
  expect(tick.attributes).toMatchObject({ "faas.cron": "0 * * * *", "idem.function.id": "report" });
  expect([parentOf(tick), parentOf(run)]).toEqual([undefined, idOf(tick)]);
  expect(run.attributes["faas.trigger"]).toBe("timer");
});

test("a batch is a child of its first event's span and linked to the others", async () => {
  const recorded = recordSpans();
  const { client, settle } = tracedWorld();
  const idem = client();
  idem.createFunction({ id: "sum", batchEvents: { maxSize: 2, timeout: "1m" } }, { event: "order/paid" }, () => 1);
  await idem.start();
  await idem.send({ name: "order/paid", data: { n: 1 } });
  await idem.send({ name: "order/paid", data: { n: 2 } });
  await settle();
  const [one, two] = recorded.named("send order/paid");
  const run = recorded.one("run sum");
  expect(parentOf(run)).toBe(idOf(one!));
  expect(run.links.map(({ context }) => context.spanId)).toEqual([idOf(two!)]);
  expect(run.attributes["messaging.batch.message_count"]).toBe(2);
});

test("spans of the user's own code stand inside of ours, and ours inside of theirs", async () => {
  const recorded = recordSpans();
  const { client, settle } = tracedWorld();
  const idem = client();
  const tracer = trace.getTracer("app");
  idem.createFunction({ id: "bill" }, { event: "order/paid" }, async ({ step }) => {
    tracer.startSpan("between steps").end();
    await step.run("price", () => tracer.startActiveSpan("query", async (span) => span.end()));
  });
  await idem.start();
  await tracer.startActiveSpan("POST /orders", async (span) => {
    await idem.send({ name: "order/paid", data: {} });
    span.end();
  });
  await settle();
  expect(parentOf(recorded.one("send order/paid"))).toBe(idOf(recorded.one("POST /orders")));
  expect(parentOf(recorded.one("between steps"))).toBe(idOf(recorded.one("run bill")));
  expect(parentOf(recorded.one("query"))).toBe(idOf(recorded.one("step price")));
});

test("user code, filters and keys do not see the trace an event came in", async () => {
  recordSpans();
  const { client, settle } = tracedWorld();
  const idem = client();
  const seen: unknown[] = [];
  idem.createFunction(
    { id: "bill", idempotency: "has(event.trace)" },
    { event: "order/paid", if: "!has(event.trace)" },
    ({ event }) => void seen.push(event),
  );
  await idem.start();
  await idem.send({ name: "order/paid", id: "o7", data: { n: 1 }, ts: 1_700_000_000_000, v: "2" });
  await settle();
  expect(seen).toEqual([{ id: "o7", name: "order/paid", data: { n: 1 }, ts: 1_700_000_000_000, v: "2" }]);
});

test("a provider that is registered while the client is open is found, and one that throws costs no run", async () => {
  const { client, settle } = tracedWorld();
  const idem = client();
  idem.createFunction({ id: "bill" }, { event: "order/paid" }, ({ step }) => step.run("price", () => 10));
  await idem.start();
  const run = async () => {
    const { decisions } = await idem.send({ name: "order/paid", data: {} });
    await settle();
    return idem.runs.wait(decisions[0]!.runId!);
  };
  expect((await run()).output).toBe(10);
  const broken = () => {
    throw new Error("the provider is broken");
  };
  const span = { ...trace.wrapSpanContext({ traceId: "1".repeat(32), spanId: "2".repeat(16), traceFlags: 1 }) };
  for (const tracer of [
    { startSpan: broken },
    { startSpan: () => ({ ...span, setAttributes: broken, end: broken, spanContext: () => span }) },
  ]) {
    trace.setGlobalTracerProvider({ getTracer: () => tracer as unknown as Tracer });
    expect((await run()).output).toBe(10);
    trace.disable();
  }
  const recorded = recordSpans();
  expect((await run()).output).toBe(10);
  expect(
    recorded
      .all()
      .map(({ name }) => name)
      .sort(),
  ).toEqual(["run bill", "send order/paid", "step price"]);
});

test("the shapes Idem looks for are those of the real package", () => {
  const recorded = recordSpans();
  const found: OpenTelemetry = registeredTelemetry()!;
  const real: OtelTracer = trace.getTracer("compared");
  expect(found.trace!.getTracer("compared", "1")).toBeInstanceOf(real.constructor);
  expect(spanKinds).toEqual({
    internal: SpanKind.INTERNAL,
    server: SpanKind.SERVER,
    client: SpanKind.CLIENT,
    producer: SpanKind.PRODUCER,
    consumer: SpanKind.CONSUMER,
  });
  const span = trace.getTracer("compared").startSpan("one", {}, ROOT_CONTEXT);
  const key = Symbol.for("OpenTelemetry Context Key SPAN");
  expect(trace.setSpan(ROOT_CONTEXT, span).getValue(key)).toBe(span);
  span.end();
  expect(recorded.one("one")).toBeDefined();
  context.with(trace.setSpan(ROOT_CONTEXT, span), () => expect(found.context!.active().getValue(key)).toBe(span));
});

test("every span and every attribute is one of the list", async () => {
  const recorded = recordSpans();
  const { client, advance } = tracedWorld();
  const idem = client();
  const child = idem.createFunction({ id: "price" }, () => 10);
  idem.createFunction({ id: "report" }, { cron: "0 * * * *" }, () => 1);
  let isFirst = true;
  idem.createFunction({ id: "bill", idempotency: "event.data.order" }, { event: "order/*" }, async ({ step }) => {
    await step.run("flaky", () => {
      if (!isFirst) return 1;
      isFirst = false;
      throw new Error("again");
    });
    await step.effect("charge", { destination: "stripe", entity: "order-7" }, () => ({ id: "ch_1" }));
    await step.invoke("ask", { function: child });
    await step.sleep("nap", "1m");
  });
  await idem.start();
  await idem.send({ name: "order/paid", data: { order: 7 } });
  await idem.send({ name: "order/changed", data: { order: 7 } });
  await advance(2 * 3_600 * seconds);
  const patterns = Object.values(spans).map(({ name, attributes }) => ({
    pattern: new RegExp(`^${name.replaceAll(/\{\w+\}/g, "[\\w/-]+")}$`),
    attributes: attributes as readonly string[],
  }));
  const met = new Set<RegExp>();
  for (const span of recorded.all()) {
    const described = patterns.find(({ pattern }) => pattern.test(span.name));
    expect(described, span.name).toBeDefined();
    met.add(described!.pattern);
    for (const name of Object.keys(span.attributes)) expect(described!.attributes, span.name).toContain(name);
  }
  // The others are met where there is HTTP.
  expect(met.size).toBe(6);
});
