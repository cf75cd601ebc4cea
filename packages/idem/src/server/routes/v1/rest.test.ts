import { describe, expect, test } from "vitest";
import { hashStepId } from "../../../model/step-id.ts";
import { NonRetriableError } from "../../../model/user-errors.ts";
import { apiWorld, stores } from "../../api/api-world.suite.ts";
import { bulkOf } from "../../bulk-work.ts";
import { readRun as readRunDetail } from "../api/read-run.ts";
import { annotateRun } from "./annotate-run.ts";
import { cancelRun } from "./cancel-run.ts";
import { listCancellations, startCancellation, stopCancellation } from "./cancellations.ts";
import { listEventRuns } from "./list-event-runs.ts";
import { listEvents } from "./list-events.ts";
import { listFunctions } from "./list-functions.ts";
import { listRunJobs } from "./list-run-jobs.ts";
import { readEvent } from "./read-event.ts";
import { readRun } from "./read-run.ts";

const minute = 60_000;

async function shop(store: string) {
  const world = await apiWorld({ store });
  await world.start({
    charge: {
      on: "order/paid",
      options: { idempotency: "event.data.order", retries: 0 },
      run: async ({ event }) => {
        if (event.data.order === 0) throw new NonRetriableError("nothing to charge");
        return { charged: event.data.order };
      },
    },
    remind: { on: "trial/started", run: async ({ step }) => step.sleep("week", "7d") },
  });
  return world;
}

const iso = (ms: number) => new Date(ms).toISOString();

describe.each(stores)("/v1 on %s", (store) => {
  test("what an app says about a run or a step is merged by kind, shown with the run, and bounded", async () => {
    const world = await shop(store);
    const { runId } = await world.send({ name: "order/paid", data: { order: 1 } });
    const say = (target: object, ...metadata: object[]) => {
      const body = { target: { run_id: runId, ...target }, metadata };
      return world.ask(annotateRun, { params: { runId: runId! }, body });
    };
    const score = { kind: "inngest.score", op: "merge" };
    expect((await say({}, { ...score, values: { a: { value: 1 } } })).status).toBe(200);
    expect((await say({}, { ...score, values: { b: { value: 2 } } })).status).toBe(200);
    // A step that was never recorded is no error, and is known by its hash as by its author's name.
    await say({ step_id: "later", step_index: 0 }, { ...score, values: { c: 1 } });
    await say({ step_id: hashStepId("later", 0), step_attempt: 0 }, { ...score, values: { d: 2 } });
    const shown = await world.ask(readRunDetail, { params: { run: runId! } });
    expect(shown.body.run.metadata).toMatchObject([
      { stepId: null, kind: "inngest.score", values: { value: { a: { value: 1 }, b: { value: 2 } } } },
      { stepId: hashStepId("later", 0), kind: "inngest.score", values: { value: { c: 1, d: 2 } } },
    ]);
    const refused = [
      await say({ run_id: "another" }, { ...score, values: {} }),
      await say({}, { kind: "", op: "merge", values: {} }),
      await say({}, { kind: "k", op: "delete", values: {} }),
      await say({}, { kind: "k", op: "set", values: [] }),
    ];
    expect(refused.map(({ status }) => status)).toEqual([400, 400, 400, 400]);
    await say({}, { ...score, values: { x: "x".repeat(40_000) } });
    expect(await say({}, { ...score, values: { y: "y".repeat(40_000) } })).toMatchObject({
      status: 413,
      body: { code: "METADATA_TOO_LARGE" },
    });
    const unknown = { target: { run_id: "nobody" }, metadata: [] };
    expect((await world.ask(annotateRun, { params: { runId: "nobody" }, body: unknown })).status).toBe(404);
  });

  test("an event has the wire's names, in an envelope that says when it was read", async () => {
    const world = await shop(store);
    const at = world.platform.wallMs();
    const { eventId } = await world.send({
      name: "order/paid",
      id: "o-1",
      data: { order: 1 },
      user: { id: "ann" },
      v: "2",
      ts: at - 5,
    });
    const { status, body } = await world.ask(readEvent, { params: { event: eventId } });
    expect(status).toBe(200);
    expect(body).toEqual({
      data: {
        internal_id: eventId,
        account_id: expect.any(String),
        environment_id: "default",
        source: "api",
        source_id: null,
        received_at: iso(at),
        id: "o-1",
        name: "order/paid",
        data: { order: 1 },
        user: { id: "ann" },
        ts: at - 5,
        v: "2",
      },
      metadata: { fetched_at: iso(at), cached_until: null },
    });
    expect(await world.ask(readEvent, { params: { event: "nobody" } })).toMatchObject({
      status: 404,
      body: { code: "SUBJECT_UNKNOWN" },
    });
  });

  test("events come newest first, twenty unless told, by name and time, from a cursor on", async () => {
    const world = await shop(store);
    const start = world.platform.wallMs();
    for (let n = 0; n < 25; n++) {
      await world.send({ name: n % 5 === 0 ? "fifth" : "other", data: { n } });
      await world.advance(minute);
    }
    const list = async (query: Record<string, string | number>) =>
      (await world.ask(listEvents, { query })).body.data.map(({ data }: any) => data.n);
    expect(await list({})).toEqual(Array.from({ length: 20 }, (_, i) => 24 - i));
    expect(await list({ limit: 2 })).toEqual([24, 23]);
    expect(await list({ name: "fifth", limit: 100 })).toEqual([20, 15, 10, 5, 0]);
    expect(await list({ received_after: iso(start + 23 * minute) })).toEqual([24, 23]);
    expect(await list({ received_before: iso(start + 2 * minute) })).toEqual([1, 0]);
    const page = (await world.ask(listEvents, { query: { limit: 20 } })).body.data;
    expect(await list({ cursor: page.at(-1).internal_id })).toEqual([4, 3, 2, 1, 0]);
    for (const query of [{ limit: 0 }, { limit: 101 }, { limit: "many" }, { received_after: "soon" }]) {
      expect(await world.ask(listEvents, { query: query as any })).toMatchObject({
        status: 400,
        body: { code: "REQUEST_INVALID" },
      });
    }
  });

  test("a page of large events ends early and goes on from its cursor", async () => {
    const world = await shop(store);
    for (let n = 0; n < 12; n++) await world.send({ name: "big", data: { n, text: "x".repeat(500_000) } });
    const seen: number[] = [];
    let cursor: string | null = null;
    do {
      const query: Record<string, string> = cursor === null ? {} : { cursor };
      const { data } = (await world.ask(listEvents, { query })).body;
      expect(data.length).toBeLessThanOrEqual(8);
      seen.push(...data.map((event: any) => event.data.n));
      cursor = data.at(-1)?.internal_id ?? null;
    } while (cursor !== null);
    expect(seen).toEqual([11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0]);
  });

  test("a run has the wire's words for its state, and its output or error", async () => {
    const world = await shop(store);
    const read = async (run: string) => (await world.ask(readRun, { params: { run } })).body.data;
    const at = world.platform.wallMs();
    const paid = await world.send({ name: "order/paid", data: { order: 1 } });
    const failed = await world.send({ name: "order/paid", data: { order: 0 } });
    const asleep = await world.send({ name: "trial/started" });
    const later = await world.send({ name: "trial/started", ts: at + minute });
    await world.idle();
    expect(await read(paid.runId)).toEqual({
      run_id: paid.runId,
      run_started_at: iso(at),
      function_id: "shop-charge",
      function_version: 1,
      environment_id: "default",
      event_id: paid.eventId,
      status: "Completed",
      ended_at: iso(at),
      output: { charged: 1 },
    });
    expect(await read(failed.runId)).toMatchObject({
      status: "Failed",
      output: { name: "NonRetriableError", message: "nothing to charge" },
    });
    expect(await read(asleep.runId)).toMatchObject({ status: "Running", ended_at: null });
    expect(await read(later.runId)).toMatchObject({ status: "Scheduled" });
    const rerunId = await world.engine.rerun(paid.runId);
    await world.idle();
    expect(await read(rerunId)).toMatchObject({ original_run_id: paid.runId, event_id: paid.eventId });
    expect(await world.ask(readRun, { params: { run: "nobody" } })).toMatchObject({ status: 404 });
  });

  test("whoever polls for the runs of an event gets them, and for a duplicate the runs that answer for it", async () => {
    const world = await shop(store);
    const first = await world.send({ name: "order/paid", id: "o-1", data: { order: 1 } });
    const sameId = await world.send({ name: "order/paid", id: "o-1", data: { order: 1 } });
    const sameKey = await world.send({ name: "order/paid", id: "o-2", data: { order: 1 } });
    const unmatched = await world.send({ name: "nobody/listens" });
    await world.idle();
    const runs = async (event: string) => (await world.ask(listEventRuns, { params: { event } })).body.data;
    for (const { eventId } of [first, sameId, sameKey]) {
      expect(await runs(eventId)).toMatchObject([{ run_id: first.runId, status: "Completed", output: { charged: 1 } }]);
    }
    expect(await runs(unmatched.eventId)).toEqual([]);
    expect(await world.ask(listEventRuns, { params: { event: "nobody" } })).toMatchObject({ status: 404 });
  });

  test("a run is cancelled once; again is fine, and one that ended otherwise says so", async () => {
    const world = await shop(store);
    const asleep = await world.send({ name: "trial/started" });
    const paid = await world.send({ name: "order/paid", data: { order: 1 } });
    await world.idle();
    const cancel = (run: string) => world.ask(cancelRun, { params: { run } });
    expect(await cancel(asleep.runId)).toEqual({ status: 204, body: null });
    expect(await cancel(asleep.runId)).toEqual({ status: 204, body: null });
    const { data } = (await world.ask(readRun, { params: { run: asleep.runId } })).body;
    expect(data).toMatchObject({ status: "Cancelled" });
    expect(await cancel(paid.runId)).toMatchObject({ status: 409, body: { code: "RUN_ENDED" } });
    expect(await cancel("nobody")).toMatchObject({ status: 404, body: { code: "RUN_UNKNOWN" } });
  });

  test("an open run has one job, with the time it is due; an ended one has none", async () => {
    const world = await shop(store);
    const at = world.platform.wallMs();
    const asleep = await world.send({ name: "trial/started" });
    const paid = await world.send({ name: "order/paid", data: { order: 1 } });
    await world.idle();
    const jobs = async (run: string) => (await world.ask(listRunJobs, { params: { run } })).body.data;
    expect(await jobs(asleep.runId)).toMatchObject([
      { run_id: asleep.runId, status: "Scheduled", at: iso(at + 7 * 24 * 60 * minute) },
    ]);
    expect(await jobs(paid.runId)).toEqual([]);
  });

  test("an app's functions are listed, and another app's are not", async () => {
    const world = await shop(store);
    const config = {
      id: "ship",
      name: "Ship it",
      triggers: [
        { event: "order/paid", if: "event.data.order > 1" },
        { cron: "0 9 * * 1", jitterMs: 60_000, missed: { kind: "skip" } },
      ],
      throttle: { limit: 2, periodMs: 60_000, burst: 1, key: null },
      retries: 4,
      idempotency: null,
      startTimeoutMs: null,
      finishTimeoutMs: null,
    };
    const functions = [{ fn: "post-ship", id: "ship", config: JSON.stringify(config), crons: ["0 9 * * 1"] }];
    await world.store.register({ env: "default", app: "post", functions });
    const list = async (app: string) => (await world.ask(listFunctions, { params: { app } })).body.data;
    expect(await list("post")).toEqual([
      {
        id: "post-ship",
        slug: "post-ship",
        function_id: "ship",
        app_id: "post",
        environment_id: "default",
        name: "Ship it",
        triggers: [
          { event: "order/paid", expression: "event.data.order > 1" },
          { cron: "0 9 * * 1", jitter: "60000ms", missed: "skip" },
        ],
        configuration: { throttle: { limit: 2, period: "60000ms", burst: 1 } },
        retries: 4,
        is_paused: false,
      },
    ]);
    expect(await list("nobody")).toEqual([]);
  });
});

describe.each(stores)("/v1/cancellations on %s", (store) => {
  async function asleep() {
    const world = await shop(store);
    // The functions of this world's engine belong to an app without a name; give the one that sleeps an owner.
    const registered = await world.store.reads.functions("default");
    const functions = registered.functions.map((each) => ({ ...each, crons: [] }));
    const remind = functions.find(({ fn }) => fn === "shop-remind")!;
    await world.store.register({ env: "default", app: "", functions: functions.filter((each) => each !== remind) });
    await world.store.register({ env: "default", app: "shop", functions: [remind] });
    await world.engine.registry.refresh();
    const sent: { runId: string }[] = [];
    for (let user = 0; user < 4; user++) {
      sent.push(await world.send({ name: "trial/started", data: { user } }));
      await world.idle();
      await world.advance(minute);
    }
    const stateOf = async () =>
      Promise.all(sent.map(async ({ runId }) => (await world.store.reads.run("default", runId))!.state));
    const create = async (over: object) => {
      const answer = await world.ask(startCancellation, {
        body: {
          app_id: "shop",
          function_id: "remind",
          started_before: iso(world.platform.wallMs()),
          ...over,
        },
      });
      if (answer.status === 200) await bulkOf(world.world).ended("default", answer.body.data.id);
      return answer;
    };
    return { ...world, create, stateOf };
  }

  test("cancels the runs of a function opened in a time", async () => {
    const world = await asleep();
    const start = world.platform.wallMs() - 4 * minute;
    const { status, body } = await world.create({
      started_after: iso(start + minute),
      started_before: iso(start + 3 * minute),
    });
    expect(status).toBe(200);
    expect(body.data).toMatchObject({
      id: expect.any(String),
      environment_id: "default",
      app_id: "shop",
      function_id: "remind",
      started_after: iso(start + minute),
      started_before: iso(start + 3 * minute),
      if: null,
    });
    expect(await world.stateOf()).toEqual(["waiting", "cancelled", "cancelled", "waiting"]);
    const listed = (await world.ask(listCancellations)).body.data;
    expect(listed).toMatchObject([{ id: body.data.id, state: "completed", cancelled: 2 }]);
  });

  test("cancels those whose event fits an expression", async () => {
    const world = await asleep();
    await world.create({ if: "event.data.user == 2" });
    expect(await world.stateOf()).toEqual(["waiting", "waiting", "cancelled", "waiting"]);
  });

  test("can be taken back while it is at work, and afterwards without harm", async () => {
    const world = await asleep();
    const { body } = await world.create({});
    const params = { cancellation: body.data.id };
    expect(await world.ask(stopCancellation, { params })).toEqual({ status: 204, body: null });
    expect(await world.ask(stopCancellation, { params: { cancellation: "nobody" } })).toMatchObject({ status: 404 });
  });

  test("refuses what it cannot be about", async () => {
    const world = await asleep();
    expect(await world.create({ function_id: "nobody" })).toMatchObject({ status: 404 });
    expect(await world.create({ app_id: "post" })).toMatchObject({ status: 404 });
    expect(await world.create({ started_before: "soon" })).toMatchObject({ status: 400 });
    expect(await world.create({ started_before: undefined })).toMatchObject({ status: 400 });
    expect(await world.create({ if: "event.data.(" })).toMatchObject({ body: { code: "EXPRESSION_INVALID" } });
    expect(await world.stateOf()).toEqual(["waiting", "waiting", "waiting", "waiting"]);
  });
});
