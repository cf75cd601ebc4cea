// The planner is an adversary: on one statement in three it once chose the wrong index, or none, and took 13 to 60 times as long
// (docs/reference/stores.md#plans). Every statement that the operations and reads send is explained here as it is planned for all its parameters at once, on empty
// tables and on filled ones. And the queue is read while a transaction somewhere keeps all its dead rows.
import { describe, expect, test } from "vitest";
import {
  decidedPair,
  end,
  env,
  eventWait,
  failure,
  fn,
  forever,
  laneOf,
  newAttempt,
  newEvent,
  newStep,
  newTick,
  plainRerun,
  runWait,
  signalWait,
  startFlow,
  startPair,
  timeWait,
  value,
  type World,
} from "../../contract/world.ts";
import type { StartPair } from "../../ingest.ts";
import { type Cluster, upTo, useServer } from "./world.suite.ts";

const { open } = useServer();

// What grows with history or with the queue. The others have a row per worker, per limit, per function.
const large = new Set([
  "events",
  "decisions",
  "claims",
  "runs",
  "steps",
  "attempts",
  "metadata",
  "jobs",
  "waits",
  "run_events",
  "cancels",
  "buffers",
  "buffer_items",
  "rate_starts",
  "messages",
  "channels",
]);

// By what an index must be asked. An environment alone is all of it, and a worker is all that it ever leased and nobody vacuumed yet.
const askedBy: Readonly<Record<string, RegExp>> = {
  events_pkey: /\bid\b/,
  decisions_pkey: /event_id/,
  claims_pkey: /scope/,
  runs_pkey: /\bid\b/,
  runs_by_function: /fn = /,
  runs_by_root: /root_run_id/,
  steps_pkey: /run_id/,
  attempts_pkey: /run_id/,
  metadata_pkey: /run_id/,
  jobs_pkey: /\bid\b/,
  jobs_timers: /due_at/,
  waits_pkey: /run_id/,
  waits_by_event: /event_name/,
  run_events_pkey: /run_id/,
  cancels_pkey: /run_id/,
  cancels_by_event: /event_name/,
  buffers_pkey: /key = /,
  buffer_items_pkey: /buffer_id/,
  rate_starts_pkey: /\bid\b/,
  messages_pkey: /channel/,
  channels_pkey: /name/,
};

// Statements that read a large table from one end to the other on purpose, each with its reason.
const mayScan: readonly { readonly part: RegExp; readonly why: string }[] = [
  { part: /update \S*claims\s+set scope = 'webhook'/, why: "a migration, once per store" },
  {
    part: /from \S*jobs where env = \$2 and kind = 'run' group by fn/,
    why: "counts open work, which is what jobs holds",
  },
  { part: /as "usedHere"/, why: "for people; slots are counted from their indexes, which hold only leased jobs" },
  {
    part: /from \S*channels where bytes > 0 group by env/,
    why: "from an index that has what was published to within the hour",
  },
  { part: /group by leased_by/, why: "for people; from an index that holds only leased jobs" },
  { part: /order by id, env .*for update\)/, why: "rescue and handing back are rare, and jobs holds only open work" },
  {
    part: /insert into \S*jobs \(env, id, kind, run_id, fn, rank, due_at, fence, had_waits\)/,
    why: "repair, asked for now and then",
  },
];

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Index Name"?: string;
  readonly "Index Cond"?: string;
  readonly Plans?: readonly Plan[];
  readonly Filter?: string;
}

const nodesOf = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodesOf)];

async function explain({ rows }: Cluster, sql: string): Promise<Plan[]> {
  const [row] = await rows<{ "QUERY PLAN": { Plan: Plan }[] }>(`explain (generic_plan, format json) ${sql}`);
  return nodesOf(row!["QUERY PLAN"][0]!.Plan);
}

/** What a plan reads more of than it must, if anything. */
const scans = (plan: readonly Plan[]): string[] =>
  plan.flatMap((node) => {
    const { "Node Type": type, "Relation Name": table, "Index Name": index, "Index Cond": condition } = node;
    if (type === "Seq Scan" && large.has(table!)) return [`Seq Scan on ${table}`];
    if (index === undefined || !(type === "Bitmap Index Scan" || large.has(table ?? ""))) return [];
    if (condition === undefined) return [`all of ${index}`];
    const isBroad = askedBy[index]?.test(condition) === false;
    // Who looks for a job by its id must not find it among all jobs of its worker.
    const isByWorker = index === "jobs_held" && /\bid\b/.test(node.Filter ?? "");
    return isBroad || isByWorker ? [`${index} by ${condition}`] : [];
  });

/** So many rows in every large table, as after some history. */
async function fill({ rows }: Cluster, count: number): Promise<void> {
  const each = `from generate_series(1, ${count}) n`;
  for (const sql of [
    `.events (env, id, name, data, ts, received_at, stamp) select 'test', 'h' || n, 'n' || n % 9, '{}', 1, 1, n`,
    `.decisions (env, event_id, fn, kind, run_id, decided_at) select 'test', 'h' || n, 'f' || n % 9, case when n % 5 = 0 then 'duplicate-key' else 'started' end, 'h' || n, 1`,
    `.claims (env, scope, key, holder, fence, generation, state, taken_at, ends_at, held, asked, last_asked_at) select 'test', 'fn:f' || n % 9, 'h' || n, 'h' || n, 1, 'h' || n, 'settled', 1, 9e15, 0, 1, 1`,
    `.runs (env, id, fn, event_id, subject, generation, root_run_id, created_at, ended_state) select 'test', 'h' || n, 'f' || n % 9, 'h' || n, '', '', 'h' || n, 1, 'completed'`,
    `.steps (env, run_id, step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp) select 'test', 'h' || n / 3, 's' || n % 3, '', 0, 'run', 'value', '1', 1, 1, 1, n`,
    `.jobs (env, id, kind, run_id, fn, rank, fence, leased_by, due_at, lane, slot_1) select 'test', 'h' || n, 'run', 'h' || n, 'f' || n % 9, n, 1, case when n % 10 = 0 then 'w' || n % 7 end, case when n % 3 = 0 then n end, case when n % 4 = 0 then 'lane' || n % 100 end, case when n % 4 = 0 then 'slot' || n % 100 end`,
    `.waits (env, run_id, step_id, kind, step_kind, name, repeat, on_timeout, on_timeout_json, event_name, path, value, child_run_id, stamp, started_at) select 'test', 'h' || n, 's', 'event', '', '', 0, 'value', '1', 'n' || n % 9, '', '', 'c' || n, n, 1`,
    `.attempts (env, run_id, step_id, attempt, name, error, started_at, ended_at, retry_at, stamp) select 'test', 'h' || n, 's', 1, '', '', 1, 1, 1, n`,
    `.buffers (env, fn, kind, key, id, due_at, count, bytes) select 'test', 'f' || n % 9, 'batch', 'k' || n, 'h' || n, n, 1, 1`,
    `.buffer_items (env, buffer_id, n, event_id) select 'test', 'h' || n / 3, n % 3, 'h' || n`,
    `.cancels (env, run_id, n, event_name, path, value, stamp) select 'test', 'h' || n, 0, 'n' || n % 9, '', '', n`,
    `.rate_starts (env, id, stamp, run_id, at) select 'test', 'r' || n % 9, n, 'h' || n, n`,
    `.run_events (env, run_id, n, event_id) select 'test', 'h' || n, 0, 'h' || n`,
  ]) {
    await rows(`insert into ${sql} ${each}`);
  }
  for (const table of large) await rows(`analyze .${table}`);
}

describe("every statement", () => {
  test("finds its rows by an index, on tables that are empty, known to be empty, or filled", async () => {
    const cluster = await open({ clock: "manual" });
    const [a] = cluster.nodes;
    await exercise(cluster, a.world);
    const statements = [...a.wire.sent.keys()].filter((sql) => /^\s*(select|with|insert|update|delete)/.test(sql));
    expect(statements.length).toBeGreaterThan(100);
    for (const table of large) await cluster.rows(`delete from .${table}`);
    // As the store's own sessions are set.
    await cluster.rows("set enable_seqscan = off");
    const stages: Readonly<Record<string, () => Promise<unknown>>> = {
      "never looked at": async () => {},
      "known to be empty": async () => {
        for (const table of large) await cluster.rows(`vacuum analyze .${table}`);
      },
      filled: () => fill(cluster, 2_000),
    };
    for (const [stage, reach] of Object.entries(stages)) {
      await reach();
      const wrong: string[] = [];
      for (const sql of statements) {
        if (mayScan.some(({ part }) => part.test(sql))) continue;
        const found = scans(await explain(cluster, sql));
        if (found.length > 0) wrong.push(`${stage}: ${found.join(", ")}: ${sql.replace(/\s+/g, " ")}`);
      }
      expect(wrong).toEqual([]);
      const indexes: readonly [RegExp, string][] = [
        [/from \S*jobs.* rank >= .* for update skip locked/s, "jobs_ready"],
        [/from \S*jobs.* due_at <= .* for update skip locked/s, "jobs_timers"],
        [/from \S*jobs.* lane = .* for update skip locked/s, "jobs_lanes"],
        [/where slot_1 = slot/, "jobs_slot_1"],
        [/from \S*waits\s+where env = received.env/, "waits_by_event"],
        [/update \S*jobs set leased_by = null.* where leased_by = /s, "jobs_held"],
        [/from \S*claims where ends_at <= /, "claims_by_end"],
      ];
      for (const [part, index] of indexes) {
        const sql = statements.find((each) => part.test(each));
        expect(sql, String(part)).toBeDefined();
        expect((await explain(cluster, sql!)).map((node) => node["Index Name"])).toContain(index);
      }
    }
    await cluster.rows("reset enable_seqscan");
  });
});

describe("the queue, while a transaction is open somewhere", () => {
  test("is leased from without walking over what was leased before: a lease reads no more after 5,000 jobs than after 500", async () => {
    const cluster = await open({ clock: "manual" });
    const { nodes, clock, begin, rows } = cluster;
    const [a, b] = nodes;
    const old = await begin();
    await old.query("set transaction isolation level repeatable read");
    await old.query("select 1");
    const through = async (passes: number) => {
      for (const _ of upTo(passes)) {
        clock.advance(500);
        const ids = upTo(50).map((n) => `r${clock.wallMs()}-${n}`);
        await b.world.ingest(
          ids.map((id) => newEvent(`event of ${id}`)),
          ids.map((id, event) => startPair(id, { event, rank: clock.wallMs() })),
        );
        const leased = (await a.world.lease("w1")).jobs;
        expect(leased).toHaveLength(50);
        await Promise.all(leased.map(({ jobId, fence }) => a.world.advance(jobId, { fence, next: end("completed") })));
      }
    };
    /** As many again, queued, leased and ended in less time. */
    const passBy = async (count: number) => {
      await rows(
        `insert into .jobs (env, id, kind, fn, rank, fence) select $1, 'p' || n, 'run', $2, cast($3 as bigint) + n % 10000, 0 from generate_series(1, ${count}) n`,
        env,
        fn,
        clock.wallMs(),
      );
      await rows("update .jobs set leased_by = 'w1', fence = 1 where id like 'p%'");
      await rows("delete from .jobs where id like 'p%'");
      clock.advance(15_000);
    };
    /** How many entries of the index a lease reads that does not look at the whole queue. */
    const entriesRead = async (): Promise<number> => {
      await a.world.lease("w1");
      a.wire.sent.clear();
      await a.world.lease("w1");
      const [sql, params] = [...a.wire.sent].find(([text]) => /rank >= .* for update skip locked/s.test(text))!;
      const countRead = async (): Promise<number> => {
        await rows("select pg_stat_force_next_flush()");
        const [row] = await rows(
          "select idx_tup_read::int as n from pg_stat_user_indexes where indexrelname = 'jobs_ready' and schemaname = $1",
          cluster.schema,
        );
        return row.n;
      };
      await rows("set enable_seqscan = off");
      const before = await countRead();
      await rows(sql, ...params);
      const after = await countRead();
      await rows("reset enable_seqscan");
      return after - before;
    };
    await through(10);
    const early = await entriesRead();
    // Of what was leased in the last two seconds.
    expect(early).toBeLessThanOrEqual(5 * 50);
    await passBy(4_500);
    await through(10);
    expect(await rows("select 1 from .jobs")).toEqual([]);
    expect(await entriesRead()).toBeLessThanOrEqual(early);
  });
});

/** Calls each operation and each read, on rows that make every branch send its statements. */
async function exercise({ clock }: Cluster, world: World): Promise<void> {
  const { store } = world;
  const { reads } = store;
  const flowing = (id: string, flow: Parameters<typeof startFlow>[0], over: Partial<StartPair> = {}) =>
    world.start(id, { key: JSON.stringify(id), leaseTo: "w1", flow: startFlow(flow), ...over });
  await world.register({ [fn]: ["0 9 * * *"], old: ["0 8 * * *"] });
  await world.register({ [fn]: ["0 9 * * *"] });
  await store.heartbeat("w1", 1_000, { node: "n", version: "1", role: "all" });
  await world.start("r1", { key: '"k"', leaseTo: "w1" }, { callerId: "id" });
  await world.start("r2", { key: '"k"', leaseTo: "w1" }, { callerId: "id" });
  await world.start("r3", { key: '"k"' });
  await world.startLeased("r4");
  await world.ingest([newEvent("event of r1", { callerId: "id" })], [startPair("r1", { leaseTo: "w1" })], {
    leaseTo: "w1",
  });
  await world.advance("r1", { steps: [newStep("s")] });
  await world.advance("r1", {
    steps: [newStep("s"), newStep("t")],
    attempts: [newAttempt("u", 1)],
    next: { kind: "continue", collect: true },
  });
  const waits = [
    timeWait("w1", clock.wallMs() + 10),
    eventWait("w2", { eventName: "x", path: "data.a", value: "1" }),
    signalWait("w3", "sig", { onTaken: "replace" }),
    signalWait("w4", "sig", { onTaken: "replace" }),
    signalWait("w5", "sig", { onTaken: failure("taken") }),
    runWait("w6"),
  ];
  const ingest = { registration: null, events: [newEvent("call", { name: "child" })], pairs: [startPair("r5")] };
  await world.advance("r1", { waits, ingest });
  await store.signal(env, "sig", value(1));
  clock.advance(1);
  await world.ingest([newEvent("x1", { name: "x" })], [], { leaseTo: "w1" });
  await reads.waitPaths(env, "x");
  await reads.awaitedNames(env, 10);
  await reads.decisionsOfEvents(env, ["x1", "call"]);
  await reads.waitCandidates(env, "x1", [{ path: "data.a", value: "1" }]);
  await store.resume({ env, jobId: "deliver:x1", fence: 1, waits: [{ runId: "r1", stepId: "w2" }], outcome: value(1) });
  await world.advance("r1", { next: forever });
  await world.advance("r4", { next: end("completed") });
  await world.tryAdvance("r4", { next: end("completed") });
  const rule = { limit: 1, periodMs: 1_000, burst: 1 };
  const caps = { [fn]: { slots: [1, 1], throttle: rule } };
  const lane = laneOf({ s: 1, t: 1 }, { throttle: ["th", rule] });
  const cancelOn = [{ eventName: "stop", path: "", value: "", rest: null, lastsMs: null }];
  for (const id of ["f1", "f2", "f3"]) await flowing(id, { lane, cancelOn, startWithinMs: 1 });
  for (const id of ["f4", "f5"]) {
    await flowing(
      id,
      { singleton: { key: "s", mode: "skip" }, rateLimit: { id: "r", limit: 2, periodMs: 10 } },
      { hold: true },
    );
  }
  await flowing("f6", { singleton: { key: "s", mode: "cancel", result: "{}" } });
  const batch = { kind: "batch", key: "k", maxSize: 2, timeoutMs: 1_000, bytesMax: 1_000 } as const;
  for (const id of ["f7", "f8", "f9"]) await flowing(id, { buffer: batch });
  for (const id of ["g1", "g2"]) {
    await flowing(id, { buffer: { kind: "debounce", key: "k", periodMs: 10, timeoutMs: null } });
  }
  await world.ingest(
    upTo(101).map((n) => newEvent(`many${n}`)),
    upTo(101).map((event) => startPair(`m${event}`, { event, key: `"m${event}"` })),
  );
  await world.start("l1", { flow: startFlow({ lane: laneOf({ other: 1 }) }) });
  clock.advance(5_000);
  for (const _ of upTo(3)) await world.lease("w1", { caps });
  await world.ingest([newEvent("stop1", { name: "stop" })], [], { leaseTo: "w1" });
  await reads.cancelCandidates(env, "stop1", [{ path: "data.a", value: "1" }]);
  for (const id of ["h1", "h2"]) await world.ingest([newEvent(id)], [decidedPair({ kind: "held" })]);
  const redecide = { env, registration: null, reason: "test" };
  await store.redecide({ ...redecide, eventId: "h1", pair: decidedPair({ kind: "dropped" }) });
  await store.redecide({ ...redecide, eventId: "h2", pair: startPair("r6") });
  for (const _ of upTo(2)) {
    await store.tick({
      env,
      registration: null,
      ticks: [{ ...newTick("0 9 * * *", clock.wallMs()), speaksFor: "x" }],
      leaseTo: "w1",
    });
  }
  for (const runId of ["r5", "r1"]) await store.cancel({ env, runId, result: "{}", releaseKey: true, ingest: null });
  await store.rerun({ ...plainRerun, env, runId: "r1", newRunId: "r7", rank: 1, leaseTo: "w1" });
  await store.rerun({
    ...plainRerun,
    env,
    runId: "r1",
    newRunId: "r8",
    rank: 1,
    leaseTo: "w1",
    from: { stepId: "s", name: "s", input: null },
  });
  await store.pause({ env, fn, paused: true, reason: "test" });
  const claim = { env, scope: "http", key: "k", token: "t1", fingerprint: "f", leaseMs: 10, windowMs: 1_000 };
  await store.claim(claim);
  await store.claim({ ...claim, token: "t2" });
  await store.settle(env, "http", "k", 1, "{}");
  await world.releaseByHand("k", "http");
  clock.advance(10_000);
  await store.publish({ env, channel: "c", messages: [{ id: "m1", topic: null, body: "{}" }] });
  await reads.channels(env, ["c"]);
  await reads.messages(env, "c", 0, { limit: 1, bytes: 1 });
  await store.sweep({ max: 10, repair: true });
  await store.handBack("w1");
  await store.prune({ env, before: clock.wallMs(), after: "", max: 100 });
  const limit = 10;
  const page = { limit, examinedMax: 100 };
  for (const filter of [{}, { fn }, { state: "queued" }, { eventId: "event of r1" }] as const) {
    await reads.runs(env, { ...filter, limit });
    await reads.runPage(env, { ...filter, ...page });
  }
  await reads.eventPage(env, page);
  await reads.decisionPage(env, page);
  await reads.decisionPage(env, { ...page, isPending: true });
  await reads.decisionPage(env, { ...page, isPending: true, oldestFirst: true });
  for (const filter of [{}, { scope: "http" }]) await reads.claims(env, { ...filter, limit });
  await reads.events(env, { limit });
  await reads.duplicatesOf(env, "event of r1", limit);
  await reads.duplicatesOfRun(env, "r1", limit);
  await reads.eventByCallerId(env, "id");
  await reads.claim(env, "http", "k");
  await reads.counts(env);
  await reads.oldestDue(env);
  await reads.limitUses(env, limit);
  await reads.pendingCounts(env);
  await reads.buffer(env, fn, "batch", "k");
  await reads.runMemo(env, "r1");
  await reads.stepInputs(env, "r1", 10);
  await reads.stepInput(env, "r1", "s1");
  await reads.runLog(env, "r1");
  await reads.lastOutcomes(env, ["r1", "r2"]);
  await reads.eventNames(env, ["event of r1"]);
  await reads.environments();
  await reads.workers();
}
