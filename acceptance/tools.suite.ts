// Every tool of the SDK beside those of the traces (docs/reference/wire.md#ops), and every way to fail.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import type { HostedApp } from "./app/messages.ts";
import type { Decided } from "./rest.ts";
import { type StandIn, standIn } from "./stand-in.ts";
import { World, type WorldOptions } from "./world.ts";

const app: HostedApp = { id: "shop", adapter: "node", functions: ["tools", "failures"] };
const other: HostedApp = { id: "depot", adapter: "express", functions: ["tools"] };
const throwing: HostedApp = { id: "guarded", adapter: "node", throwsAround: 2, functions: ["tools"] };
const streamed: HostedApp = { id: "stream", adapter: "node", streaming: true, functions: ["traces"] };

const completion = JSON.stringify({ choices: [{ message: { content: "hello" } }] });

export function toolsSuite(options: Pick<WorldOptions, "mode" | "registeredBy" | "env">): void {
  const traceparents = new Map<string, string[]>();
  let world: World;
  let service: StandIn;
  beforeAll(async () => {
    [world, service] = await Promise.all([
      World.open({ ...options, apps: [app, other, streamed, throwing] }),
      standIn(({ path }, n) => {
        if (path === "/teapot") return { status: 418, headers: { "x-kind": "pot" }, body: `short and stout ${n}` };
        return { status: 200, body: completion };
      }),
    ]);
  });
  beforeAll(() => {
    world.calls.watch(({ headers }) => {
      const runId = headers["x-run-id"];
      if (runId === undefined) return;
      traceparents.set(runId, [...(traceparents.get(runId) ?? []), headers.traceparent!]);
    });
  });
  afterAll(() => Promise.all([world?.close(), service?.close()]));

  const end = async (name: string, data: object = {}) => {
    const runId = await world.rest.start(name, data);
    return { runId, ...(await world.rest.end(runId)) };
  };
  const notes = (text: string | RegExp) =>
    world.ledger.filter((line) => line.kind === "note" && (line.text.match(text)?.index ?? -1) === 0);
  const noted = (text: string | RegExp) =>
    world.host.until((line) => line.kind === "note" && (line.text.match(text)?.index ?? -1) === 0);

  describe.concurrent("steps", () => {
    test("parallel steps inside parallel branches run once each, in the order of their branch", async () => {
      const { runId, ...run } = await end("shop/nested");
      expect(run).toMatchObject({ status: "Completed", output: [5, 20] });
      const entered = world.entered(runId);
      expect(entered.toSorted()).toEqual(["a1", "a2", "a3", "a4", "b1", "b2"]);
      expect(entered.indexOf("a1")).toBeLessThan(entered.indexOf("a2"));
      expect(entered.indexOf("a4")).toBeGreaterThan(entered.indexOf("a3"));
    });

    test("a step id that is used again is another step", async () => {
      const { runId, ...run } = await end("shop/repeats");
      expect(run).toMatchObject({ status: "Completed", output: [0, 1, 2] });
      expect(world.entered(runId)).toEqual(["same", "same", "same"]);
      expect(await world.rest.timeline(runId)).toHaveLength(3);
    });

    test("a time that is over is no reason to wait", async () => {
      expect(await end("shop/until")).toMatchObject({ status: "Completed" });
    });

    test("two events with one key are one run, and the second is answered with the first one's", async () => {
      const [first, second] = await Promise.all([
        world.rest.post([{ name: "shop/keyed", data: { order: 7 } }]),
        world.rest.post([{ name: "shop/keyed", data: { order: 7 } }]),
      ]);
      const runs = await Promise.all([first, second].map(({ json }) => world.rest.runOf(json.ids[0], "shop-keyed")));
      expect(new Set(runs).size).toBe(1);
      expect(await world.rest.end(runs[0]!)).toMatchObject({ status: "Completed", output: 7 });
      expect(world.entered(runs[0]!)).toEqual(["charge"]);
    });

    test("an answer that is streamed is read like any other", async () => {
      const { runId, ...run } = await end("stream/parallel");
      expect(run).toMatchObject({ status: "Completed", output: ["p1", "p2", "p3"] });
      expect(world.entered(runId).toSorted()).toEqual(["p1", "p2", "p3", "post", "post2", "pre"]);
      expect(world.traces.streamed).toContain(runId);
      expect(await end("stream/fail", { n: 1 })).toMatchObject({ status: "Failed", output: { message: "kaput" } });
    });
  });

  describe.concurrent("waits", () => {
    test("a run that waits is woken by the event it waits for and by no other", async () => {
      const runId = await world.rest.start("shop/waits", { id: 7 });
      await world.traces.has(runId, "call step 0: 206 WaitForEvent w");
      await waiting(runId);
      await world.rest.post([{ name: "shop/approve", data: { id: 8, by: "eve" } }]);
      await world.rest.post([{ name: "shop/approve", data: { id: 7, by: "ada" } }]);
      expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: "ada" });
    });

    test("a wait that nobody ends is over at its time", async () => {
      expect(await end("shop/waits", { id: 9, timeout: "1s" })).toMatchObject({
        status: "Completed",
        output: "nobody",
      });
    });

    test("a signal reaches the run that waits for it, and whoever sends one nobody waits for is told so", async () => {
      const runId = await world.rest.start("shop/signalled", { signal: "s-1" });
      await waiting(runId);
      expect(await world.host.signal("shop", "nobody-waits", {})).not.toHaveProperty("runId");
      expect(await world.host.signal("shop", "s-1", { from: "outside" })).toEqual({ runId });
      expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: { from: "outside" } });
    });

    test("a run sends a signal to another run", async () => {
      const runId = await world.rest.start("shop/signalled", { signal: "s-2" });
      await waiting(runId);
      expect(await end("shop/signals", { signal: "s-2" })).toMatchObject({ status: "Completed" });
      expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: { from: "a run" } });
    });

    test("a second run that waits for the same signal fails, and the first goes on waiting", async () => {
      const runId = await world.rest.start("shop/signalled", { signal: "s-3" });
      await waiting(runId);
      expect(await end("shop/signalled", { signal: "s-3" })).toMatchObject({ status: "Failed" });
      await world.host.signal("shop", "s-3", { still: "here" });
      expect(await world.rest.end(runId)).toMatchObject({ status: "Completed", output: { still: "here" } });
    });

    const waiting = (runId: string) =>
      world.rest.until(`/api/runs/${runId}`, ({ run }) =>
        run.timeline.some(({ state }: { state: string }) => state === "waiting"),
      );
  });

  describe.concurrent("reaching others", () => {
    test("events sent by a step start their runs once", async () => {
      const { runId, ...run } = await end("shop/sends", { numbers: [1, 2, 3] });
      expect(run.status).toBe("Completed");
      const outputs = await Promise.all(
        run.output.map(async (id: string) => world.rest.end(await world.rest.runOf(id, "shop-received"))),
      );
      expect(outputs.map(({ output }) => output)).toEqual([1, 2, 3]);
      expect(await world.rest.timeline(runId)).toHaveLength(1);
    });

    test("a function of another app is invoked by its name", async () => {
      expect(await end("shop/asks", { app: "depot", n: 41 })).toMatchObject({ status: "Completed", output: 42 });
    });

    test("a function that nobody has fails the step that invokes it", async () => {
      const { status, output } = await end("shop/asks", { app: "nobody", n: 1 });
      expect(status).toBe("Failed");
      expect(output.message).toContain("nobody-answers");
    });

    test("step.fetch is done by the server, once, and every status is an answer", async () => {
      const { runId, ...run } = await end("shop/fetches", { url: `${service.origin}/teapot` });
      const asked = service.asked.filter(({ path }) => path === "/teapot");
      expect(run).toMatchObject({ status: "Completed", output: { status: 418, kind: "pot" } });
      expect(run.output.body).toContain("short and stout");
      expect(asked).toHaveLength(1);
      expect(asked[0]).toMatchObject({ method: "POST", body: '{"ask":1}', headers: { "x-a": "b" } });
      expect(world.traces.of(runId)[0]).toBe("call step 0: 206 Gateway step.fetch: 127.0.0.1");
    });

    test("a fetch that reaches nobody is tried again, and fails its step with the reason", async () => {
      const { runId, ...run } = await end("shop/fetches", { url: "http://127.0.0.1:9/" });
      expect(run).toMatchObject({ status: "Failed", output: { name: "GatewayError" } });
      const [fetched] = await world.rest.timeline(runId);
      expect(fetched!.attempts).toHaveLength(2);
    });

    test("an inference that a model refuses is tried again", async () => {
      let asked = 0;
      const model = await standIn(() =>
        ++asked < 3 ? { status: 429, body: "slowly" } : { status: 200, body: completion },
      );
      const { runId, ...run } = await end("shop/infers", { url: model.origin });
      await model.close();
      expect(run).toMatchObject({ status: "Completed", output: "hello" });
      const [inferred] = await world.rest.timeline(runId);
      expect(inferred!.attempts.map(({ error }) => error?.message.includes("429") ?? null)).toEqual([true, true, null]);
    });

    test("step.ai.infer is done by the server with the app's key, which is kept nowhere", async () => {
      const run = await end("shop/infers", { url: service.origin });
      const asked = service.asked.find(({ path }) => path.endsWith("/chat/completions"));
      expect(run).toMatchObject({ status: "Completed", output: "hello" });
      expect(asked!.headers.authorization).toBe("Bearer sk-secret");
      expect(JSON.parse(asked!.body)).toMatchObject({ messages: [{ role: "user", content: "hi" }] });
      expect(world.holds("chat/completions") || world.holds("hello")).toBe(true);
      expect(world.holds("sk-secret")).toBe(false);
      expect(world.serverLog).not.toContain("sk-secret");
    });

    test("an invoked function is told who invokes it, and is in the sessions of that run", async () => {
      const meta = { sessions: { chat: "c-1" } };
      const { json } = await world.rest.post([{ name: "shop/tells", data: {}, meta }]);
      const runId = await world.rest.runOf(json.ids[0], "shop-tells");
      const { status, output } = await world.rest.end(runId);
      expect({ status, output }).toEqual({
        status: "Completed",
        output: {
          data: {
            n: 1,
            _inngest: {
              fn_id: "shop-mirrors",
              name: "ask it",
              correlation_id: expect.stringMatching(new RegExp(`^${runId}\\.[0-9a-f]{40}$`)),
              source_app_id: "shop",
              source_fn_id: "shop-tells",
              expire: expect.any(Number),
            },
          },
          meta: { sessions: { chat: "c-1" } },
        },
      });
      const calls = traceparents.get(runId)!;
      for (const each of calls) expect(each).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/);
      expect(new Set(calls.map((each) => each.split("-")[1])).size).toBe(1);
      expect(new Set(calls).size).toBe(calls.length);
    });

    test("scores of a run and of a step are kept with it, however they are said", async () => {
      const { runId, ...run } = await end("shop/scores");
      expect(run.status).toBe("Completed");
      const { metadata, timeline } = (await world.rest.get(`/api/runs/${runId}`)).run;
      const shown = metadata.map(({ stepId, kind, values }: any) => [stepId, kind, values.value]);
      expect(shown).toEqual([
        [null, "inngest.score", { inside: { value: 1 }, outside: { value: 0.5 } }],
        [timeline[0].stepId, "inngest.score", { of_the_step: { value: 0 } }],
      ]);
    });

    test("deferred work starts when its run is over, unless it was called off", async () => {
      const { runId, ...run } = await end("shop/defers");
      expect(run).toMatchObject({ status: "Completed", output: "b" });
      await noted(`${runId} 1`);
      expect(world.entered(runId)).toEqual(["a", "b"]);
      const runs = await world.rest.runsOfFunction("shop-later");
      expect(runs).toHaveLength(1);
      expect(notes(`${runId} 2`)).toEqual([]);
      const { data } = await world.rest.get("/v1/events?name=inngest/deferred.schedule");
      const { decisions } = await world.rest.get(`/api/events/${data[0].internal_id}`);
      expect(decisions.map((each: Decided) => [each.function, each.kind])).toEqual([["shop-later", "started"]]);
    });
  });

  describe.concurrent("failures", () => {
    test("NonRetriableError ends a step at once and can be caught; from the code it ends the run", async () => {
      const { runId, ...run } = await end("shop/never");
      expect(run).toMatchObject({ status: "Failed", output: { message: "not this way" } });
      expect(world.entered(runId)).toEqual(["refuse"]);
      expect(world.traces.of(runId)).toEqual(["call step 0: 206 StepFailed refuse", "call step 0: 400 no retry"]);
      await noted(`${runId} not this way`);
    });

    test("without retries the first failure is the last, and onFailure hears of it", async () => {
      const { runId, ...run } = await end("shop/once");
      expect(run).toMatchObject({ status: "Failed", output: { message: "at once" } });
      expect(world.entered(runId)).toEqual(["boom"]);
      await noted(`${runId} at once`);
    });

    test("with one retry the code is entered twice, and onFailure hears of it once", async () => {
      const { runId, ...run } = await end("shop/twice");
      expect(run).toMatchObject({ status: "Failed", output: { message: "in the code" } });
      expect(world.traces.of(runId)).toEqual(["call step 0: 500", "call step 1: 400 no retry"]);
      await noted(`${runId} in the code`);
      expect(notes(`${runId} in the code`)).toHaveLength(1);
    });

    test("middleware that throws around a request spends an attempt, and the reason is the app's own", async () => {
      const { runId, ...run } = await end("guarded/until");
      expect(run.status).toBe("Completed");
      const code = (await world.rest.timeline(runId)).find(({ kind }) => kind === "function");
      expect(code).toMatchObject({ state: "completed" });
      expect(code!.attempts.map(({ error }) => error)).toMatchObject([
        { name: "TypeError", message: "no tenant" },
        { name: "TypeError", message: "no tenant" },
      ]);
      expect(JSON.stringify(code)).not.toMatch(/packages\/idem/);
    });

    test("RetryAfterError says when the next attempt begins", async () => {
      const { runId, ...run } = await end("shop/busy");
      expect(run).toMatchObject({ status: "Completed", output: "free" });
      const [step, code] = await world.rest.timeline(runId);
      for (const entry of [step!, code!]) {
        const { endedAt, retryAt } = entry.attempts[0]!;
        expect(retryAt! - endedAt).toBeGreaterThanOrEqual(950);
        expect(retryAt! - endedAt).toBeLessThan(5_000);
      }
    });

    test("a step that failed for good is thrown into the code as what it was, and the code may go on", async () => {
      const { runId, ...run } = await end("shop/catches");
      expect(run).toMatchObject({ status: "Completed", output: expect.stringContaining("wrong kind") });
      expect(world.entered(runId)).toEqual(["boom", "boom", "after"]);
    });
  });

  describe.concurrent("people", () => {
    test("a rerun from a step keeps what was before it and takes another input for it", async () => {
      const { runId, ...run } = await end("shop/computes", { n: 3 });
      expect(run).toMatchObject({ status: "Completed", output: -36 });
      const body = JSON.stringify({ fromStep: "square", input: [5] });
      const { status, json } = await world.rest.ask(`/api/runs/${runId}/rerun`, { method: "POST", body });
      expect(status).toBe(200);
      expect(await world.rest.end(json.runId)).toMatchObject({ status: "Completed", output: -25 });
      const said = world.ledger.flatMap((line) => (line.kind === "note" && line.run === json.runId ? [line.text] : []));
      expect(said).toEqual(["square 5", "negate 25"]);
    });

    test("a run that is cancelled takes no more steps: the app is told to stop", async () => {
      const runId = await world.rest.start("shop/holds");
      await world.host.until((line) => line.kind === "enter" && line.run === runId && line.step === "held");
      expect((await world.rest.ask(`/v1/runs/${runId}`, { method: "DELETE" })).status).toBe(204);
      expect(await world.rest.end(runId)).toMatchObject({ status: "Cancelled" });
      world.host.release(runId);
      await world.traces.has(runId, "checkpoint held refused 409");
      await world.traces.has(runId, "call step 0: 400 no retry");
      expect(world.entered(runId)).toEqual(["before", "held"]);
      expect(await world.rest.run(runId)).toMatchObject({ status: "Cancelled" });
    });
  });
}
