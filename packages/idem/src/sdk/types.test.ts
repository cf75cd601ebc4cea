// The compiler's knowledge of events, steps and functions. It is the compiler that checks these (`npm run types`); the error of a wrong
// line stands in its `@ts-expect-error`.
import { describe, expectTypeOf, test } from "vitest";
import { z } from "zod";
import { serve } from "../serve.ts";
import { Idem } from "./client.ts";
import type { ReceivedEvent, Untyped } from "./event-types.ts";
import type { QueuedResult, SendResult } from "./send-result.ts";

const paid = z.object({ orderId: z.string(), amount: z.number() });
const refused = z.object({ orderId: z.string(), why: z.string() });
type Paid = { orderId: string; amount: number };
type Refused = { orderId: string; why: string };

const make = <const Options extends object>(options: Options) => new Idem({ id: "shop", store: "memory:", ...options });
const closed = () =>
  new Idem({ id: "shop", store: "memory:", events: { "order/paid": paid, "order/refused": refused } });
const open = () =>
  new Idem({ id: "shop", store: "memory:", events: { "order/paid": paid, "*": z.object({ tenant: z.string() }) } });

/** Compiled, never called. */
const compiled = (_: () => unknown): void => {};

describe("with schemas", () => {
  test("a handler's event has the data of its name", () => {
    closed().createFunction({ id: "a" }, { event: "order/paid" }, ({ event, events }) => {
      expectTypeOf(event).toEqualTypeOf<ReceivedEvent<"order/paid", Paid>>();
      expectTypeOf(events).toEqualTypeOf<readonly ReceivedEvent<"order/paid", Paid>[]>();
    });
  });

  test("events of several triggers are told apart by their name", () => {
    const idem = closed();
    idem.createFunction({ id: "a" }, [{ event: "order/paid" }, { event: "order/refused" }], ({ event }) => {
      if (event.name === "order/paid") expectTypeOf(event.data).toEqualTypeOf<Paid>();
      else expectTypeOf(event.data).toEqualTypeOf<Refused>();
    });
    idem.createFunction({ id: "b", triggers: [{ event: "order/*" }] }, ({ event }) => {
      if (event.name === "order/paid") expectTypeOf(event.data).toEqualTypeOf<Paid>();
      else expectTypeOf(event.data).toEqualTypeOf<Refused>();
    });
  });

  test("a name that no schema has is refused where it is sent, waited for and listened to", () => {
    const idem = closed();
    compiled(() => [
      // @ts-expect-error order/piad is none of them
      idem.send({ name: "order/piad", data: { orderId: "1", amount: 1 } }),
      // @ts-expect-error nor is it listened to
      idem.createFunction({ id: "a" }, { event: "order/piad" }, () => {}),
      idem.createFunction({ id: "b" }, { cron: "* * * * *" }, async ({ step }) => {
        // @ts-expect-error nor waited for
        await step.waitForEvent("w", { event: "order/piad", timeout: "1d" });
        await step.waitForEvent("end", { event: "inngest/function.finished", timeout: "1d" });
      }),
    ]);
  });

  test("what is sent has the data of its name, one or many", () => {
    const idem = closed();
    compiled(async () => {
      expectTypeOf(
        await idem.send({ name: "order/paid", data: { orderId: "1", amount: 1 } }),
      ).toEqualTypeOf<SendResult>();
      await idem.send([
        { name: "order/paid", data: { orderId: "1", amount: 1 } },
        { name: "order/refused", data: { orderId: "1", why: "card" } },
      ]);
      await idem.send(["1", "2"].map((orderId) => ({ name: "order/paid" as const, data: { orderId, amount: 1 } })));
      const tx = { query: async () => ({ rows: [] }) };
      const queued = await idem.send({ name: "order/paid", data: { orderId: "1", amount: 1 } }, { tx });
      expectTypeOf(queued).toEqualTypeOf<QueuedResult>();
      // @ts-expect-error an order's id is a text
      await idem.send({ name: "order/paid", data: { orderId: 1, amount: 1 } });
      await idem.send([
        // @ts-expect-error the data of the other
        { name: "order/paid", data: { orderId: "1", why: "card" } },
        { name: "order/refused", data: { orderId: "1", why: "card" } },
      ]);
    });
  });

  test("steps that wait and send know the events", () => {
    closed().createFunction({ id: "a" }, { event: "order/paid" }, async ({ step }) => {
      const answer = await step.waitForEvent("answer", { event: "order/refused", timeout: "1d" });
      expectTypeOf(answer).toEqualTypeOf<ReceivedEvent<"order/refused", Refused> | null>();
      await step.sendEvent("tell", { name: "order/refused", data: { orderId: "1", why: "card" } });
      // @ts-expect-error it has no reason
      await step.sendEvent("tell", { name: "order/refused", data: { orderId: "1" } });
    });
  });

  test("`*` is the schema of every other name", () => {
    const idem = open();
    idem.createFunction({ id: "a" }, { event: "other/thing" }, ({ event }) => {
      expectTypeOf(event.data).toEqualTypeOf<{ tenant: string }>();
    });
    compiled(async () => {
      await idem.send({ name: "order/paid", data: { orderId: "1", amount: 1 } });
      await idem.send({ name: "other/thing", data: { tenant: "1" } });
      // @ts-expect-error it has a schema of its own
      await idem.send({ name: "order/paid", data: { tenant: "1" } });
      // @ts-expect-error it has no tenant
      await idem.send({ name: "other/thing", data: {} });
    });
  });

  test("onFailure and onCancel receive the event of the run that ended, and why", () => {
    closed().createFunction(
      {
        id: "a",
        onFailure: ({ event, error, step }) => {
          expectTypeOf(event.data.event).toEqualTypeOf<ReceivedEvent<"order/paid", Paid>>();
          expectTypeOf(event.data.run_id).toEqualTypeOf<string>();
          expectTypeOf(error).toEqualTypeOf<Error>();
          expectTypeOf(step.sleep).toBeFunction();
        },
        onCancel: ({ event }) => expectTypeOf(event.data.event.data).toEqualTypeOf<Paid>(),
      },
      { event: "order/paid" },
      () => {},
    );
  });
});

describe("of steps", () => {
  test("a function value is invoked with the data of its events, and gives what its handler returns, as JSON", () => {
    const idem = closed();
    const charge = idem.createFunction({ id: "charge" }, { event: "order/paid" }, async ({ event }) => ({
      receipt: event.data.orderId,
      at: new Date(0),
    }));
    idem.createFunction({ id: "a" }, { event: "order/refused" }, async ({ step }) => {
      const made = await step.invoke("charge", { function: charge, data: { orderId: "1", amount: 1 } });
      expectTypeOf(made).toEqualTypeOf<{ receipt: string; at: string }>();
      // @ts-expect-error it needs its data
      await step.invoke("charge", { function: charge });
      // @ts-expect-error of the right kind
      await step.invoke("charge", { function: charge, data: { orderId: 1, amount: 1 } });
      expectTypeOf(await step.invoke("by name", { function: "other-app-charge", data: 1 })).toEqualTypeOf<unknown>();
      expectTypeOf(await step.invoke<{ n: number }>("told", { function: "other-app-charge" })).toEqualTypeOf<{
        n: number;
      }>();
    });
  });

  test("a step gives what its callback returns, as JSON; a signal's data is what its sender says", () => {
    make({}).createFunction({ id: "a" }, { event: "x" }, async ({ step }) => {
      expectTypeOf(
        await step.run("a", () => ({ at: new Date(0), n: 1, none: undefined as string | undefined })),
      ).toEqualTypeOf<{
        at: string;
        n: number;
        none: string | undefined;
      }>();
      expectTypeOf(await step.run("b", async () => {})).toEqualTypeOf<null>();
      expectTypeOf(await step.run("c", (id: string, { key }) => key + id, "1")).toEqualTypeOf<string>();
      const signal = await step.waitForSignal("d", { signal: "s", timeout: "1d" });
      expectTypeOf(signal).toEqualTypeOf<{ readonly signal: string; readonly data: unknown } | null>();
      const told = await step.waitForSignal<{ by: string }>("e", { signal: "s", timeout: "1d" });
      expectTypeOf(told!.data.by).toEqualTypeOf<string>();
    });
  });
});

describe("without schemas", () => {
  test("fields are read as they come, as in code written for Inngest", () => {
    const idem = make({});
    idem.createFunction(
      { id: "a", onFailure: ({ event }) => event.data.event.data.x.y },
      { event: "x" },
      async ({ event, step }) => {
        expectTypeOf(event.data).toEqualTypeOf<Untyped>();
        const answer = await step.waitForEvent("answer", { event: "y", timeout: "1d" });
        return answer?.data.anything.at.all;
      },
    );
    compiled(() => idem.send([{ name: "a", data: { x: 1 } }, { name: "b" }]));
  });
});

test("a client with schemas is served and handed around as any other", () => {
  compiled(() => serve(closed()));
  const anyone: Idem = closed();
  expectTypeOf(anyone.id).toEqualTypeOf<string>();
});
