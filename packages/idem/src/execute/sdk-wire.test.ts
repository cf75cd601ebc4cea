// Smaller parts of the wire, with the real SDK (inngest 4) as the app.
import { type Inngest, Middleware } from "inngest";
import { createDefer, metadataMiddleware, scoreMiddleware } from "inngest/experimental";
import { afterEach, describe, expect, test } from "vitest";
import { hashStepId } from "../model/step-id.ts";
import { sdkApp, stopApps } from "./sdk-app.suite.ts";

afterEach(stopApps);

const when = (event: string) => ({ triggers: [{ event }] });

describe("an invoked function", () => {
  const invoking = (inngest: Inngest.Any, payload: object) => {
    const child = inngest.createFunction({ id: "child", triggers: [] }, async ({ event }) => event as unknown);
    const parent = inngest.createFunction({ id: "parent", retries: 0, ...when("go") }, async ({ step, runId }) => {
      const asked = step.invoke("ask it", { function: child, timeout: "1h", ...payload } as never);
      return { runId, seen: await asked.catch((error: Error) => error.message) };
    });
    return [child, parent];
  };

  test("is told who invoked it, and neither its stored data nor its key hold that", async () => {
    const { end, store } = await sdkApp((inngest) => invoking(inngest, { data: { n: 1 } }));
    const { output } = (await end("go")) as { output: { runId: string; seen: { data: Record<string, unknown> } } };
    const { _inngest, ...data } = output.seen.data;
    expect(data).toEqual({ n: 1 });
    expect(_inngest).toEqual({
      fn_id: "shop-child",
      name: "ask it",
      correlation_id: expect.stringMatching(new RegExp(`^${output.runId}\\.[0-9a-f]{40}$`)),
      source_app_id: "shop",
      source_fn_id: "shop-parent",
      expire: expect.any(Number),
    });
    const [stored] = await store.reads.events("default", { name: "inngest/function.invoked", limit: 1 });
    expect(stored!.data).toBe('{"n":1}');
  });

  test("is in the sessions of the run that invokes it, and those it was given win", async () => {
    const { end } = await sdkApp((inngest) =>
      invoking(inngest, { data: {}, meta: { sessions: { order: "own", step: 1 } } }),
    );
    const run = await end("go", {}, { meta: { sessions: { chat: "c-1", order: "inherited" } } });
    expect(run.output).toMatchObject({ seen: { meta: { sessions: { chat: "c-1", order: "own", step: "1" } } } });
    expect(JSON.stringify(run.output)).not.toContain("propagated_sessions");
  });

  test("fails for good when its sessions cannot be kept, and the code may go on", async () => {
    const { end } = await sdkApp((inngest) =>
      invoking(inngest, { data: {}, meta: { sessions: { ["k".repeat(129)]: "1" } } }),
    );
    expect(await end("go")).toMatchObject({
      state: "completed",
      output: { seen: expect.stringContaining("a key of meta.sessions has 129 bytes") },
    });
  });
});

describe("deferred work", () => {
  const deferring = (inngest: Inngest.Any, log: string[], meta: object) => {
    const seen = (name: string) => async (given: object) => {
      const { event } = given as { event: { data: unknown; meta?: { sessions?: unknown } } };
      log.push(JSON.stringify([name, event.data, event.meta?.sessions ?? null]));
    };
    const later = createDefer(inngest, { id: "later" }, seen("later"));
    const others = ["second", "third"].map((id) => createDefer(inngest, { id }, seen(id)));
    const parent = inngest.createFunction({ id: "parent", ...when("go") }, async ({ defer, step }) => {
      defer("mail", { function: later, data: { to: "ada" }, meta } as never);
      await step.run("a", () => 1);
    });
    return [later, ...others, parent];
  };
  const decided = async (app: Awaited<ReturnType<typeof sdkApp>>) => {
    const [event] = await app.store.reads.events("default", { name: "inngest/deferred.schedule", limit: 1 });
    const decisions = await app.store.reads.decisionsOfEvent("default", event!.id);
    return decisions.map(({ fn, kind }) => `${fn} ${kind}`);
  };

  test("is decided by the function it names and by no other, paused or not", async () => {
    const app = await sdkApp((inngest, log) => deferring(inngest, log, {}));
    await app.engine.pause({ fn: "shop-second", paused: true, reason: "" });
    await app.end("go");
    await expect.poll(() => app.log).toEqual(['["later",{"to":"ada"},null]']);
    expect(await decided(app)).toEqual(["shop-later started"]);
  });

  test("is in the sessions of its run, and begins without those that cannot be kept", async () => {
    const app = await sdkApp((inngest, log) => deferring(inngest, log, { sessions: { mail: "m-1" } }));
    await app.end("go", {}, { meta: { sessions: { chat: "c-1" } } });
    await expect.poll(() => app.log).toEqual(['["later",{"to":"ada"},{"mail":"m-1","chat":"c-1"}]']);
    const refused = await sdkApp((inngest, log) => deferring(inngest, log, { sessions: { ["k".repeat(129)]: "m-1" } }));
    await refused.end("go");
    await expect.poll(() => refused.log).toEqual(['["later",{"to":"ada"},null]']);
  });
});

describe("middleware of the app that throws around a whole request", () => {
  const throwing = (times: number) => {
    let thrown = 0;
    return class extends Middleware.BaseMiddleware {
      readonly id = "throws";
      override async wrapRequest({ next }: Middleware.WrapRequestArgs) {
        if (thrown++ < times) throw new TypeError("no tenant");
        return next();
      }
    };
  };
  const simple = (inngest: Inngest.Any) => [
    inngest.createFunction({ id: "simple", retries: 1, ...when("go") }, async ({ step }) => step.run("a", () => 1)),
  ];

  test("spends an attempt, and the timeline says what it threw", async () => {
    const { send, runs, store } = await sdkApp(simple, { middleware: [throwing(1)] });
    const runId = await send("go");
    expect(await runs.wait(runId)).toMatchObject({ state: "completed", output: 1 });
    const { attempts } = (await store.reads.runMemo("default", runId))!;
    expect(attempts.map(({ error }) => JSON.parse(error!))).toMatchObject([
      { name: "TypeError", message: "no tenant" },
    ]);
  });

  test("fails the run once the attempts are spent", async () => {
    const { end } = await sdkApp(simple, { middleware: [throwing(9)] });
    expect(await end("go")).toMatchObject({ state: "failed", error: { name: "TypeError", message: "no tenant" } });
  });
});

describe("what an app says about its runs", () => {
  const said = async ({ store }: Awaited<ReturnType<typeof sdkApp>>, runId: string) =>
    (await store.reads.metadata("default", runId)).map(({ stepId, kind, value }) => [stepId, kind, JSON.parse(value)]);

  test.each([
    ["with checkpoints", {}],
    ["without checkpoints", { checkpointing: false }],
  ])("is kept with the run and with its steps, by whichever way it comes, %s", async (_, options) => {
    const app = await sdkApp(
      (inngest) => [
        inngest.createFunction({ id: "scored", retries: 0, ...when("go") }, async ({ step, runId }) => {
          const { metadata } = step as never as { metadata: (id: string) => Record<string, any> };
          await step.run("answer", async () => {
            await (inngest as any).metadata.set({ model: "small" });
            await (inngest as any).metadata.set({ model: "large" });
          });
          await metadata("note it").run().set({ customer: "ada" }, "customer");
          await (inngest as any).score({ runId, name: "helpful", value: 0.5 });
          await (inngest as any).score({ runId, name: "polite", value: 1 });
          await (inngest as any).score({ runId, stepId: "answer", name: "short", value: 0 });
          await Promise.all(["p", "q"].map((id) => step.run(id, () => (inngest as any).metadata.set({ id }))));
          await step
            .run("broken", async () => {
              await (inngest as any).metadata.set({ tried: true });
              throw new Error("no");
            })
            .catch(() => {});
        }),
      ],
      { middleware: [metadataMiddleware(), scoreMiddleware()], ...options },
    );
    const runId = await app.send("go");
    expect(await app.runs.wait(runId)).toMatchObject({ state: "completed" });
    const id = (name: string) => hashStepId(name, 0);
    expect(new Set((await said(app, runId)).map((each) => JSON.stringify(each)))).toEqual(
      new Set(
        [
          ["", "inngest.score", { helpful: { value: 0.5 }, polite: { value: 1 } }],
          ["", "userland.customer", { customer: "ada" }],
          [id("answer"), "inngest.score", { short: { value: 0 } }],
          [id("answer"), "userland.default", { model: "large" }],
          [id("broken"), "userland.default", { tried: true }],
          [id("p"), "userland.default", { id: "p" }],
          [id("q"), "userland.default", { id: "q" }],
        ].map((each) => JSON.stringify(each)),
      ),
    );
  });
});
