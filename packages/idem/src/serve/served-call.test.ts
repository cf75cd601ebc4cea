import { expect, test, vi } from "vitest";
import { hashStepId } from "../model/step-id.ts";
import { NonRetriableError, RetryAfterError } from "../model/user-errors.ts";
import { held } from "../testing/one-run.suite.ts";
import { classic, servedWorld, type WorldOptions } from "./served-world.suite.ts";

const a = hashStepId("a", 0);
const b = hashStepId("b", 0);
const c = hashStepId("c", 0);

function world(handler: (context: any) => unknown, options: WorldOptions = {}, fn: Record<string, unknown> = {}) {
  const made = servedWorld(options);
  made.idem.createFunction({ id: "fn", ...fn }, { event: "test/go" }, handler);
  return made;
}

const ops = (answer: { body: any }) => answer.body.map(({ op, id }: any) => [op, id]);

test("steps one after the other are checkpointed one by one, and the run's end is the answer", async () => {
  const seen: string[] = [];
  const { call, asked, checkpointed } = world(async ({ step }) => {
    const first = await step.run("a", () => ({ n: 1 }));
    seen.push(`a is known to ${checkpointed().length} checkpoint`);
    await step.run("b", () => undefined);
    return { first };
  });
  const answer = await call("fn");
  expect(answer.status).toBe(206);
  expect(answer.body).toEqual([{ id: hashStepId("complete", 0), op: "RunComplete", data: { first: { n: 1 } } }]);
  expect(answer.headers.get("x-inngest-req-version")).toBe("2");
  expect(answer.headers.get("x-inngest-sdk")).toMatch(/^idem:v/);
  expect(seen).toEqual(["a is known to 1 checkpoint"]);
  expect(asked[0]).toMatchObject({
    method: "POST",
    path: "/v1/checkpoint/01RUN/async",
    body: { run_id: "01RUN", fn_id: "33333333-3333-4333-8333-333333333333", qi_id: "q:1" },
  });
  expect(checkpointed()).toMatchObject([
    { id: a, op: "StepRun", name: "a", displayName: "a", userland: { id: "a" }, data: { n: 1 } },
    { id: b, op: "StepRun", data: null },
  ]);
});

test("the server is told what each step was given, done or failed; of a closure nothing", async () => {
  const { call, checkpointed } = world(async ({ step }) => {
    await step.run("a", (n: number) => n, 7);
    await step.run("b", () => 1);
    await step.run("c", (n: number) => Promise.reject(new NonRetriableError(`no ${n}`)), 8);
  });
  const answer = await call("fn");
  expect(checkpointed()).toMatchObject([
    { id: a, opts: { input: [7] } },
    { id: b, opts: {} },
  ]);
  expect(checkpointed()[1]).not.toHaveProperty("opts.input");
  expect(answer.body).toMatchObject([{ id: c, op: "StepFailed", opts: { input: [8] } }]);
});

test("a step's promise resolves only once the server has its outcome", async () => {
  const taken = held();
  const before = held();
  let resolved = false;
  const { call } = world(
    async ({ step }) => {
      await step.run("a", () => 1);
      resolved = true;
    },
    {
      answer: async () => {
        before.release();
        await taken.promise;
        return {};
      },
    },
  );
  const answering = call("fn");
  await before.promise;
  await new Promise((resolve) => setImmediate(resolve));
  expect(resolved).toBe(false);
  taken.release();
  await answering;
  expect(resolved).toBe(true);
});

test("what the run already has is given back in the order of recording, and nothing of it runs again", async () => {
  let ran = 0;
  const { call } = world(async ({ step }) => {
    const first = await Promise.race([step.run("a", () => ++ran), step.run("b", () => ++ran)]);
    const woken = await step.sleep("nap", "1d");
    const event = await step.waitForEvent("w", { event: "x/y", timeout: "1d" });
    return [first, woken, event.name];
  });
  const steps = {
    a: { data: "a" },
    b: { data: "b" },
    nap: null,
    w: { id: "1", name: "x/y", data: { data: 1 }, ts: 1 },
  };
  expect((await call("fn", { steps })).body[0].data).toEqual(["a", null, "x/y"]);
  expect((await call("fn", { steps, stack: ["b", "a", "nap", "w"] })).body[0].data).toEqual(["b", null, "x/y"]);
  expect(ran).toBe(0);
});

test("without a place for checkpoints each step is an answer of its own, and the value returned is plain", async () => {
  const { call, asked } = world(async ({ step }) => [await step.run("a", () => 1), await step.run("b", () => 2)]);
  const first = await call("fn", { ctx: classic });
  expect([first.status, ops(first)]).toEqual([206, [["StepRun", a]]]);
  const second = await call("fn", { ctx: classic, steps: { a: { data: 1 } } });
  expect(ops(second)).toEqual([["StepRun", b]]);
  const last = await call("fn", { ctx: classic, steps: { a: { data: 1 }, b: { data: 2 } } });
  expect([last.status, last.body]).toEqual([200, [1, 2]]);
  expect(asked).toEqual([]);
});

test("steps side by side are planned, each for a call of its own, and none of them begins", async () => {
  let ran = 0;
  const { call } = world(({ step }) =>
    Promise.all([
      step.run("a", () => ++ran),
      step.sleep("b", "10m"),
      step.waitForEvent("c", { event: "x/y", timeout: "1h", match: "data.id" }),
    ]),
  );
  const answer = await call("fn");
  expect(answer.status).toBe(206);
  expect(answer.body).toMatchObject([
    { op: "Sleep", id: b, name: "600000ms", opts: { parallelMode: "race" } },
    {
      op: "WaitForEvent",
      id: c,
      name: "x/y",
      opts: { timeout: "3600000ms", if: "event.data.id == async.data.id", parallelMode: "race" },
    },
    { op: "StepPlanned", id: a, name: "a", opts: { parallelMode: "race" } },
  ]);
  expect(ran).toBe(0);
});

test("a call for one step runs that step alone", async () => {
  const ran: string[] = [];
  const { call, asked } = world(({ step }) =>
    Promise.all([step.run("a", () => ran.push("a")), step.run("b", () => ran.push("b")), step.sleep("c", "1d")]),
  );
  const answer = await call("fn", { stepId: b });
  expect([answer.status, ops(answer)]).toEqual([206, [["StepRun", b]]]);
  expect(ran).toEqual(["b"]);
  expect(asked).toEqual([]);
});

test("a sibling that is the only one left is planned again and not begun: it may be running elsewhere", async () => {
  let ran = 0;
  const { call } = world(({ step }) => Promise.all([step.run("a", () => ++ran), step.run("b", () => ++ran)]));
  const answer = await call("fn", { steps: { a: { data: 1 } } });
  expect(ops(answer)).toEqual([["StepPlanned", b]]);
  expect(ran).toBe(0);
});

test("a race goes on with whichever is over first, beside those that are not", async () => {
  const { call } = world(async ({ step }) => {
    const first = await Promise.race([step.run("a", () => "a"), step.sleep("b", "30d")]);
    return step.run("c", () => first);
  });
  expect(ops(await call("fn", { steps: { a: { data: "a" } } }))).toEqual([
    ["Sleep", b],
    ["StepPlanned", c],
  ]);
});

test("steps the code does not wait for are begun all the same when it returns", async () => {
  const { call } = world(async ({ step }) => {
    step.run("a", () => 1);
    step.run("b", () => 2);
    return "done";
  });
  expect(ops(await call("fn"))).toEqual([
    ["StepPlanned", a],
    ["StepPlanned", b],
    ["RunComplete", hashStepId("complete", 0)],
  ]);
  expect(ops(await call("fn", { steps: { a: { data: 1 }, b: { data: 2 } } }))).toEqual([
    ["RunComplete", hashStepId("complete", 0)],
  ]);
});

test("asked only to plan, a step alone is planned as well", async () => {
  const { call } = world(({ step }) => step.run("a", () => 1));
  const answer = await call("fn", { ctx: { disable_immediate_execution: true } });
  expect(ops(answer)).toEqual([["StepPlanned", a]]);
});

test("a step the code does not come to is reported with what it came to instead, after ten seconds", async () => {
  const { call, platform } = world(({ step }) => step.run("a", () => 1));
  const answering = call("fn", { stepId: hashStepId("gone", 0) });
  await platform.advance(9_999, turns);
  await platform.advance(1, turns);
  const answer = await answering;
  expect(answer.status).toBe(500);
  expect(answer.body).toMatchObject({
    requestedStep: hashStepId("gone", 0),
    foundSteps: [{ id: a, displayName: "a" }],
    totalFoundSteps: 1,
  });
});

test("a step the code comes to late is still found", async () => {
  const late = held();
  const { call } = world(async ({ step }) => {
    const [, found] = await Promise.all([
      step.sleep("b", "1d"),
      late.promise.then(() => step.run("a", () => "found late")),
    ]);
    return found;
  });
  const answering = call("fn", { stepId: a });
  await turns();
  late.release();
  expect((await answering).body).toMatchObject([{ op: "StepRun", id: a, data: "found late" }]);
});

test("after its time a call begins no further step: the next one is planned", async () => {
  const { call, platform } = world(async ({ step }) => {
    await step.run("a", () => platform.clock.advance(10_000));
    return step.run("b", () => 1);
  });
  expect(ops(await call("fn"))).toEqual([["StepPlanned", b]]);
});

test("a step that failed is reported with its error, to be tried again", async () => {
  const { call } = world(({ step }) =>
    step.run("a", () => {
      throw new TypeError("no luck", { cause: new Error("deep") });
    }),
  );
  const answer = await call("fn");
  expect(answer.status).toBe(206);
  expect(answer.body).toMatchObject([
    {
      op: "StepError",
      id: a,
      userland: { id: "a" },
      error: { name: "TypeError", message: "no luck", cause: { message: "deep" }, __serialized: true },
    },
  ]);
  expect(answer.headers.get("x-inngest-no-retry")).toBe("false");
  expect(answer.headers.get("retry-after")).toBeNull();
});

test("the last attempt, and one that cannot be helped, fails the step for good", async () => {
  const { call } = world(({ step, event }) =>
    step.run("a", () => {
      throw event.data.final === true ? new NonRetriableError("no") : new Error("no");
    }),
  );
  const last = await call("fn", { ctx: { attempt: 4 } });
  expect([last.body[0].op, last.headers.get("x-inngest-no-retry")]).toEqual(["StepFailed", "true"]);
  const final = await call("fn", { event: { data: { final: true } } });
  expect([final.body[0].op, final.headers.get("x-inngest-no-retry")]).toEqual(["StepFailed", "true"]);
  expect((await call("fn", { ctx: { attempt: 40, max_attempts: undefined } })).body[0].op).toBe("StepError");
});

test("when to try again is said where the author said it", async () => {
  const later = world(({ step }) =>
    step.run("a", () => {
      throw new RetryAfterError("later", "1500ms");
    }),
  );
  const answer = await later.call("fn");
  expect(answer.headers.get("retry-after")).toBe("2");
  expect(answer.headers.get("x-idem-retry-after-ms")).toBe("1500");
  const backoff = (attempt: number) => attempt * 40;
  const own = world(
    ({ step }) =>
      step.run("a", () => {
        throw new Error("no");
      }),
    {},
    { backoff },
  );
  expect((await own.call("fn", { ctx: { attempt: 1 } })).headers.get("x-idem-retry-after-ms")).toBe("80");
});

test("attempts are counted by the server and numbered from 1, and later steps of a call begin anew", async () => {
  const seen: unknown[] = [];
  const { call } = world(async ({ step, attempt, maxAttempts }) => {
    seen.push([attempt, maxAttempts]);
    await step.run("a", (facts: any) => seen.push(["a", facts.attempt]));
    await step.run("b", (facts: any) => seen.push(["b", facts.attempt]));
  });
  // After a retry the step is the answer, so that the next one has its own attempts.
  expect(ops(await call("fn", { ctx: { attempt: 2 } }))).toEqual([["StepRun", a]]);
  expect(seen).toEqual([
    [3, 5],
    ["a", 3],
  ]);
  await call("fn");
  expect(seen.slice(2)).toEqual([
    [1, 5],
    ["a", 1],
    ["b", 1],
  ]);
});

test("code that throws is to be tried again until its attempts are spent or it says otherwise", async () => {
  const { call } = world(async ({ event }) => {
    if (event.data.kind === "final") throw new NonRetriableError("never");
    if (event.data.kind === "later") throw new RetryAfterError("later", 30_000);
    throw new Error("boom");
  });
  const first = await call("fn");
  expect([first.status, first.body.message, first.headers.get("x-inngest-no-retry")]).toEqual([500, "boom", "false"]);
  expect((await call("fn", { ctx: { attempt: 4 } })).status).toBe(400);
  expect((await call("fn", { event: { data: { kind: "final" } } })).status).toBe(400);
  const later = await call("fn", { event: { data: { kind: "later" } } });
  expect([later.status, later.headers.get("retry-after")]).toEqual([500, "30"]);
});

test("the failure of a step can be caught; let through, it ends the run", async () => {
  const { call } = world(async ({ step, event }) => {
    try {
      return await step.run("a", () => 1);
    } catch (error) {
      if (event.data.rethrow === true) throw error;
      return (error as Error).message;
    }
  });
  const steps = { a: { error: { name: "Error", message: "spent" } } };
  expect((await call("fn", { steps })).body[0].data).toBe("spent");
  const answer = await call("fn", { steps, event: { data: { rethrow: true } } });
  expect([answer.status, answer.body.message]).toEqual([400, "spent"]);
});

test("a checkpoint the server does not take comes with the answer instead", async () => {
  const { call, asked } = world(({ step }) => step.run("a", () => 1), { answer: () => ({ status: 413 }) });
  expect(ops(await call("fn"))).toEqual([["StepRun", a]]);
  expect(asked).toHaveLength(1);
});

test("a server that is down for checkpoints is tried five times, and the step comes with the answer", async () => {
  const { call, asked, platform } = world(({ step }) => step.run("a", () => 1), {
    answer: () => Promise.reject(new Error("ECONNREFUSED")),
  });
  const answering = call("fn");
  await platform.advance(3_000, turns);
  expect(ops(await answering)).toEqual([["StepRun", a]]);
  expect(asked).toHaveLength(5);
});

test("a call that a newer one has replaced stops at its next checkpoint", async () => {
  let after = false;
  const { call } = world(
    async ({ step }) => {
      await step.run("a", () => 1);
      after = true;
    },
    { answer: () => ({ status: 409 }) },
  );
  const answer = await call("fn");
  expect([answer.status, answer.body.name]).toEqual([400, "StaleDispatchError"]);
  expect(after).toBe(false);
});

test("sleeps, waits, signals and invokes are passed on as their author wrote them", async () => {
  const { call, idem } = world(async ({ step, event }) => {
    switch (event.data.what) {
      case "sleep":
        return step.sleepUntil("s", "2030-01-02T03:04:05Z");
      case "signal":
        return step.waitForSignal("s", { signal: "sig-1", timeout: "5m", onConflict: "replace" });
      case "event":
        return step.waitForEvent("s", { event: "x/y", timeout: "3d", if: "async.data.ok", match: "data.a-b" });
      case "foreign":
        return step.invoke("s", { function: "other-app-fn", data: { q: 1 }, v: "2", timeout: "10m" });
      default:
        return step.invoke("s", { function: "child" });
    }
  });
  idem.createFunction({ id: "child" }, [], () => 1);
  const op = async (what: string) => (await call("fn", { event: { data: { what } } })).body[0];
  expect(await op("sleep")).toMatchObject({ op: "Sleep", name: "2030-01-02T03:04:05.000Z", userland: { id: "s" } });
  expect(await op("signal")).toMatchObject({
    op: "WaitForSignal",
    name: "sig-1",
    opts: { signal: "sig-1", timeout: "300000ms", conflict: "replace" },
  });
  expect(await op("event")).toMatchObject({
    op: "WaitForEvent",
    name: "x/y",
    opts: { timeout: "259200000ms", if: 'event.data["a-b"] == async.data["a-b"] && (async.data.ok)' },
  });
  expect(await op("foreign")).toMatchObject({
    op: "InvokeFunction",
    opts: { function_id: "other-app-fn", payload: { data: { q: 1 }, v: "2" }, timeout: "600000ms" },
  });
  expect(await op("own")).toMatchObject({ op: "InvokeFunction", opts: { function_id: "shop-child" } });
});

test("events a step sends have the same ids on every attempt, made of the step's key", async () => {
  const { call, asked, checkpointed } = world(({ step }) =>
    step.sendEvent("a", [
      { name: "x/y", data: { n: 1 } },
      { id: "mine", name: "x/z", ts: 1_700_000_000_000 },
    ]),
  );
  const first = await call("fn", { ctx: destination });
  await call("fn", { ctx: destination });
  const sends = asked.filter(({ path }) => path.startsWith("/e/"));
  expect(sends).toHaveLength(2);
  expect(sends[0]!.body).toEqual(sends[1]!.body);
  expect(sends[0]!.body).toEqual([
    { name: "x/y", data: { n: 1 }, id: expect.stringMatching(/^idem_.{40}:0$/) },
    { name: "x/z", data: {}, id: "mine", ts: 1_700_000_000_000 },
  ]);
  expect(checkpointed()[0]).toMatchObject({
    op: "StepRun",
    opts: { type: "step.sendEvent" },
    data: { ids: ["01EVENT"] },
  });
  expect(first.body[0].data).toEqual({ ids: ["01EVENT"] });
});

const destination = { idem: { env: "default", fn: "shop-fn", subject: "7", generation: "01FIRST" } };

test("a step's key is what the server's facts make it: the same in a rerun, and with another server the same on retries", async () => {
  const { call } = world(({ step }) => step.run("a", ({ key }: any) => key));
  const key = async (ctx: Record<string, unknown>) => (await call("fn", { ctx })).body[0].data;
  const served = await key({ ...destination, run_id: "01RUN" });
  expect(served).toMatch(/^idem_/);
  expect(await key({ ...destination, run_id: "01RERUN" })).toBe(served);
  expect(await key({ run_id: "01RUN" })).toBe(await key({ run_id: "01RUN", attempt: 1 }).catch(() => ""));
  expect(await key({ run_id: "01RUN" })).not.toBe(await key({ run_id: "01OTHER" }));
});

test("a person's input takes the place of a step's arguments", async () => {
  const { call } = world(({ step }) => step.run("a", (n: number) => n * 2, 21));
  expect((await call("fn", { steps: { a: { input: [4] } } })).body[0].data).toBe(8);
});

test("a batch comes as events, the first of them as event, in every call", async () => {
  const { call } = world(async ({ event, events, step }) => {
    await step.sleep("nap", "1m");
    return { first: event.data.n, all: events.map(({ id, data }: any) => [id, data.n]) };
  });
  const events = [1, 2, 3].map((n) => ({ id: `e${n}`, name: "test/go", data: { n } }));
  const given = { events, ctx: classic };
  expect((await call("fn", given)).body).toMatchObject([{ op: "Sleep" }]);
  const all = events.map(({ id, data }) => [id, data.n]);
  expect((await call("fn", { ...given, steps: { nap: { data: null } } })).body).toEqual({ first: 1, all });
});

const apart = (parts: Readonly<Record<string, unknown>>): WorldOptions => ({
  answer: ({ url }) => ({ body: JSON.stringify(parts[url.slice(url.lastIndexOf("/") + 1)]) }),
});

test("a memo and a batch too large for the call are fetched", async () => {
  const batch = [1, 2, 3].map((n) => ({ id: `e${n}`, name: "test/go", data: { n } }));
  const { call, asked } = world(
    async ({ events, step }) => [await step.run("a", () => "ran again"), events.map(({ data }: any) => data.n)],
    apart({ batch, actions: { [a]: { data: "kept" } } }),
  );
  const answer = await call("fn", { event: batch[0]!, ctx: { use_api: true } });
  expect(answer.body[0].data).toEqual(["kept", [1, 2, 3]]);
  const fetched = asked.map(({ method, path }) => `${method} ${path}`);
  expect(fetched.sort()).toEqual(["GET /v0/runs/01RUN/actions", "GET /v0/runs/01RUN/batch"]);
});

test("a call whose batch cannot be had is tried again, not run with a part of it", async () => {
  const handler = vi.fn();
  const { call } = world(handler, apart({ batch: [], actions: {} }));
  expect((await call("fn", { ctx: { use_api: true } })).status).toBeGreaterThanOrEqual(400);
  expect(handler).not.toHaveBeenCalled();
});

test("when the server goes away in the middle, the step hears of it by its signal", async () => {
  const begun = held();
  const heard = held();
  const { call } = world(({ step }) =>
    step.run("a", ({ signal }: { signal: AbortSignal }) => {
      signal.addEventListener("abort", () => heard.release());
      begun.release();
      return new Promise(() => {});
    }),
  );
  const gone = new AbortController();
  const answering = call("fn", { signal: gone.signal });
  await begun.promise;
  gone.abort();
  await heard.promise;
  expect((await answering).status).toBe(500);
});

test("the companion for failures receives the failure", async () => {
  const { call } = world(() => 1, {}, { onFailure: ({ error, event }: any) => [error.message, event.data.run_id] });
  const event = { name: "inngest/function.failed", data: { error: { name: "Error", message: "boom" }, run_id: "01X" } };
  expect((await call("fn-failure", { event })).body[0].data).toEqual(["boom", "01X"]);
});

test("logs say each thing once, also when the code is entered again", async () => {
  const { call, logged } = world(async ({ step, logger }) => {
    logger.info("before a");
    await step.run("a", () => 1);
    logger.info("after a");
  });
  await call("fn", { steps: { a: { data: 1 } } });
  expect(logged).toEqual([["after a"]]);
});

async function turns(): Promise<void> {
  for (let i = 0; i < 20; i++) await new Promise((resolve) => setImmediate(resolve));
}
