// The planner is an adversary: without statistics it once chose the primary key's prefix over the right index and took
// 10.8 ms instead of 0.17 ms at 100,000 waits (docs/reference/stores.md#plans). Every statement the store prepares is checked here.
import { expect, test, vi } from "vitest";
import { ManualClock } from "../../platform/manual-clock.ts";
import { Connection } from "./connection.ts";
import { SqliteCore } from "./core.ts";
import { sqliteDriver } from "./driver.ts";
import { LeasableFunctions } from "./leasable-functions.ts";
import { migrate } from "./migrate.ts";
import { loadMigrations } from "./migrations.ts";

// Statements that read a whole table on purpose, each with its reason.
const mayScan: readonly { readonly part: string; readonly why: string }[] = [
  { part: "select type, name, sql from sqlite_schema", why: "once per process, of a store that was just made" },
  { part: "select quote(", why: "once per process, of a store that was just made" },
  { part: "from jobs where env = ? and kind = 'run' group by fn", why: "counts open work, which is what jobs holds" },
  { part: "select distinct env from functions", why: "once per start of a server; a row per function" },
  { part: "from buffers limit 1", why: "whether there is any" },
  { part: "from jobs indexed by jobs_held", why: "once per start: what holds slots" },
  { part: "from jobs indexed by jobs_lanes\n   where (env, lane) >", why: "once per start: one probe per lane" },
  { part: "from jobs indexed by jobs_lanes\n   where env >= ?", why: "once per start: one probe per lane" },
  { part: "from jobs where env = ? and lane is not null and (leased_by", why: "for people; jobs holds only open work" },
  { part: "select distinct env, event_name from waits", why: "once per start: which names anybody waits for" },
  { part: "select env, child_run_id from waits", why: "once per start: which runs anybody waits for" },
  { part: "select env, id from jobs where lost_workers", why: "once per start and rescue; jobs holds only open work" },
  {
    part: "from jobs\n   where env = :env and kind = 'run' and (leased_by",
    why: "for people; jobs holds only open work",
  },
  {
    part: "from channels where bytes > 0 group by env",
    why: "from an index that has what was published to within the hour",
  },
  { part: "from end_notes", why: "what ended since the last sweep" },
  { part: "select id from workers where dead_at", why: "a row per process" },
  { part: "update workers set dead_at", why: "a row per process" },
  { part: "update workers set until = 0", why: "a row per process, once per start" },
  { part: "where leased_by = ?", why: "rescue and hand-back: rare, and jobs holds only open work" },
  {
    part: "insert into jobs (env, id, kind, run_id, fn, rank, due_at, fence, had_waits)",
    why: "repair, asked for by a person",
  },
];

test("no statement of the store reads a table from one end to the other", () => {
  const prepared = new Set<string>();
  notingStatements((sql) => void prepared.add(sql), exerciseEveryOperation);
  expect(prepared.size).toBeGreaterThan(50);

  const connection = new Connection(":memory:", { readonly: false });
  migrate(connection, loadMigrations());
  new LeasableFunctions(connection);
  const scans: string[] = [];
  for (const sql of prepared) {
    if (/^\s*(begin|commit|rollback|savepoint|release|pragma|select sqlite_version)/i.test(sql)) continue;
    const holes = (sql.match(/\?/g) ?? []).map(() => "1");
    const named = Object.fromEntries([...sql.matchAll(/:(\w+)/g)].map(([, name]) => [name, "1"]));
    const given = Object.keys(named).length > 0 ? [named] : holes;
    const plan = connection.db.prepare(`explain query plan ${sql}`).all(...given) as { detail: string }[];
    // The parts of the view of decisions have plans of their own in this list.
    const ofView = plan.some(({ detail }) => detail === "CO-ROUTINE decisions") ? "SCAN d" : null;
    const scanned = plan
      .filter(({ detail }) => detail !== ofView)
      .filter(({ detail }) =>
        // A condition that does not reach the view's parts has all of them read.
        /^SCAN (?!\w+ VIRTUAL TABLE|json_each|CONSTANT|every|started|found|awaited|cancelling|\(|s\b)|^SEARCH kept_decisions USING PRIMARY KEY \(env=\?\)/.test(
          detail,
        ),
      );
    if (scanned.length > 0 && !mayScan.some(({ part }) => sql.includes(part))) {
      scans.push(`${scanned[0]!.detail}\n${sql}`);
    }
  }
  expect(scans).toEqual([]);
});

test("what a page asks by ids is found by ids, however many rows there are", () => {
  const prepared = new Set<string>();
  notingStatements((sql) => {
    if (sql.includes("json_each(:ids)") || sql.includes("json_each(:runs)")) prepared.add(sql);
  }, exerciseEveryOperation);
  expect(prepared.size).toBeGreaterThanOrEqual(4);
  const connection = new Connection(":memory:", { readonly: false });
  migrate(connection, loadMigrations());
  for (const sql of prepared) {
    const named = Object.fromEntries([...sql.matchAll(/:(\w+)/g)].map(([, name]) => [name, "[]"]));
    const plan = connection.db.prepare(`explain query plan ${sql}`).all(named) as { detail: string }[];
    // By the environment alone would be a walk through all of it: 20,000 runs took half a second.
    expect(plan.filter(({ detail }) => /\(env=\?\)/.test(detail))).toEqual([]);
  }
});

test("the runs of an event are found from what was decided for it, however many runs there are", () => {
  const prepared = new Set<string>();
  notingStatements((sql) => {
    if (sql.includes("with started as")) prepared.add(sql);
  }, exerciseEveryOperation);
  expect(prepared.size).toBeGreaterThanOrEqual(2);
  const connection = new Connection(":memory:", { readonly: false });
  migrate(connection, loadMigrations());
  for (const sql of prepared) {
    const named = Object.fromEntries([...sql.matchAll(/:(\w+)/g)].map(([, name]) => [name, "1"]));
    const holes = (sql.match(/\?/g) ?? []).map(() => "1");
    const given = Object.keys(named).length > 0 ? [named] : holes;
    const plan = connection.db.prepare(`explain query plan ${sql}`).all(...given) as { detail: string }[];
    // From the newest run on, comparing each: a million of them took 0.8 s.
    expect(plan.filter(({ detail }) => /\(env=\?( AND id[<>]\?)?\)/.test(detail))).toEqual([]);
  }
});

/** Of every handle that is opened meanwhile. */
function notingStatements(note: (sql: string) => void, body: () => void): void {
  const driver = sqliteDriver();
  const open = driver.open;
  const spy = vi.spyOn(driver, "open").mockImplementation((path, options) => {
    const handle = open(path, options);
    const { prepare } = handle;
    handle.prepare = (sql) => {
      note(sql);
      return prepare(sql);
    };
    return handle;
  });
  try {
    body();
  } finally {
    spy.mockRestore();
  }
}

/** Calls each operation and each read once, on rows that make every branch prepare its statements. */
function exerciseEveryOperation(): void {
  const clock = new ManualClock();
  const core = new SqliteCore({ path: ":memory:", migrations: loadMigrations(), clock, owner: "test" });
  const env = "default";
  const commit = (name: any, ...input: unknown[]) => {
    const answer = core.commit([{ name, input }])[0]!;
    if (!answer.ok) throw new Error(answer.message);
    return answer.value as any;
  };
  const event = (id: string, name: string, callerId: string | null) => ({
    id,
    callerId,
    windowMs: 1_000,
    name,
    data: "{}",
    ts: 1,
    extra: null,
    sourceRunId: null,
  });
  const start = (runId: string, leaseTo: string | null) => ({
    kind: "start",
    event: 0,
    fn: "f",
    runId,
    key: '"k"',
    windowMs: 1_000,
    hold: false,
    subject: "s",
    generation: "g",
    rank: 1,
    dueAt: null,
    leaseTo,
    reason: null,
    flow: null,
  });
  const plainFlow = { buffer: null, rateLimit: null, singleton: null, lane: null, cancelOn: [], startWithinMs: null };
  const wait = (stepId: string, over: object) => ({
    stepId,
    name: stepId,
    repeat: 0,
    stepKind: "sleep",
    timeoutAt: null,
    onTimeout: { kind: "value", json: "null" },
    ...over,
  });
  commit("register", { env, app: "a", functions: [{ fn: "f", id: "f", config: "{}", crons: ["0 9 * * *"] }] });
  commit("register", { env, app: "a", functions: [{ fn: "g", id: "g", config: "{}", crons: ["0 9 * * *"] }] });
  commit("heartbeat", "w1", 1_000);
  commit("ingest", {
    env,
    registration: 2,
    events: [event("e1", "n", "id")],
    pairs: [start("r1", "w1")],
    leaseTo: "w1",
  });
  commit("ingest", {
    env,
    registration: 2,
    events: [event("e2", "n", "id")],
    pairs: [start("r2", "w1")],
    leaseTo: "w1",
  });
  commit("ingest", {
    env,
    registration: 2,
    events: [event("e3", "n", null)],
    pairs: [start("r3", "w1")],
    leaseTo: "w1",
  });
  const advance = (over: object) =>
    commit("advance", {
      env,
      worker: "w1",
      runId: "r1",
      jobId: "r1",
      fence: 1,
      steps: [],
      attempts: [],
      waits: [],
      ingest: null,
      seen: 0,
      next: { kind: "continue", collect: false },
      ...over,
    });
  const step = {
    stepId: "s1",
    name: "s1",
    repeat: 0,
    kind: "run",
    outcome: { kind: "value", json: "1" },
    attempt: 1,
    startedAt: 1,
    endedAt: 1,
  };
  const attempt = { stepId: "s2", name: "s2", attempt: 1, error: "{}", startedAt: 1, endedAt: 1, retryAt: 2 };
  advance({ steps: [step], attempts: [attempt] });
  advance({ steps: [step] });
  advance({
    waits: [
      wait("w1", { kind: "time", timeoutAt: clock.wallMs() + 10 }),
      wait("w2", { kind: "event", eventName: "x", path: "data.a", value: "1", rest: null }),
      wait("w3", { kind: "signal", signal: "sig", onTaken: "replace" }),
      wait("w4", { kind: "signal", signal: "sig", onTaken: "replace" }),
      wait("w5", { kind: "run", pair: 0, onRefused: { kind: "value", json: "null" } }),
    ],
    ingest: { registration: 2, events: [event("e4", "child", null)], pairs: [{ ...start("r4", null), key: null }] },
  });
  commit("signal", env, "sig", { kind: "value", json: "1" });
  commit("ingest", { env, registration: null, events: [event("e5", "x", null)], pairs: [], leaseTo: "w1" });
  core.read("waitPaths", [env, "x"]);
  core.read("waitCandidates", [env, "e5", [{ path: "data.a", value: "1" }]]);
  commit("resume", {
    env,
    jobId: "deliver:e5",
    fence: 1,
    waits: [{ runId: "r1", stepId: "w2" }],
    outcome: { kind: "value", json: "1" },
  });
  advance({ next: { kind: "suspend", dueAt: null } });
  commit("lease", { env, worker: "w1", functions: ["f"], caps: {}, max: 10 });
  exerciseFlow();
  commit("cancel", { env, runId: "r4", result: "{}", releaseKey: true, ingest: null });
  commit("cancel", { env, runId: "r1", result: "{}", releaseKey: true, ingest: null });
  commit("rerun", { env, runId: "r1", newRunId: "r9", rank: 1, leaseTo: "w1", lane: null, cancelOn: [] });
  const from = { stepId: "s1", name: "s1", input: null };
  commit("rerun", { env, runId: "r1", newRunId: "r10", rank: 1, leaseTo: "w1", lane: null, cancelOn: [], from });
  commit("publish", { env, channel: "c", messages: [{ id: "m1", topic: null, body: "{}" }] });
  core.read("channels", [env, ["c"]]);
  core.read("messages", [env, "c", 0, { limit: 1, bytes: 1 }]);
  commit("pause", { env, fn: "g", paused: true, reason: "test" });
  const claim = { env, scope: "http", key: "k", token: "t1", fingerprint: "f", leaseMs: 10, windowMs: 1_000 };
  commit("claim", claim);
  commit("claim", { ...claim, token: "t2" });
  commit("settle", env, "http", "k", 1, "{}");
  commit("release", { env, scope: "http", key: "k", fence: null, reason: "test" });
  clock.advance(10_000);
  commit("sweep", { max: 10, repair: true });
  commit("handBack", "w1");
  for (const filter of [{}, { fn: "f" }, { state: "queued" }, { eventId: "e1" }]) {
    core.read("runs", [env, { ...filter, limit: 10 }]);
  }
  const page = { limit: 10, examinedMax: 100 };
  for (const filter of [{}, { fn: "f" }, { state: "queued" }, { eventId: "e1" }]) {
    core.read("runPage", [env, { ...filter, ...page }]);
  }
  core.read("eventPage", [env, page]);
  for (const filter of [{}, { action: "cancel-run" }, { actor: "dev" }, { subject: "r1" }]) {
    core.read("auditPage", [env, { ...filter, limit: 10 }]);
  }
  commit("prune", { env, before: 0, after: "", max: 10, auditBefore: 1 });
  commit("count", { env, until: clock.wallMs(), max: 10 });
  const range = { since: 0, until: clock.wallMs() };
  core.read("hourCounts", [env, range]);
  core.read("liveCounts", [env, { ...range, after: "", stepMs: 60_000, examinedMax: 100 }]);
  core.read("slips", [env, { limit: 10 }]);
  core.read("groupRuns", [env, ["r1"], 10]);
  core.read("runStarts", [env, [{ id: "r1", eventId: "e1", fn: "f" }]]);
  core.read("eventNames", [env, ["e1"]]);
  core.read("runPayloads", [env, ["r1"], 10]);
  core.read("lastFailures", [env, ["r1"]]);
  core.read("lastOutcomes", [env, ["r1"]]);
  core.read("stepInputs", [env, "r1", 10]);
  core.read("stepInput", [env, "r1", "s1"]);
  core.read("runLog", [env, "r1"]);
  core.read("decisionPage", [env, page]);
  core.read("decisionPage", [env, { ...page, isPending: true }]);
  core.read("decisionPage", [env, { ...page, isPending: true, oldestFirst: true }]);
  core.read("events", [env, { limit: 10 }]);
  core.read("events", [env, { name: "n", limit: 10 }]);
  core.read("claims", [env, { limit: 10 }]);
  core.read("oldestDue", [env]);
  core.read("environments", []);
  core.read("claims", [env, { scope: "http", limit: 10 }]);
  for (const [name, ...input] of [
    ["functions", env],
    ["run", env, "r1"],
    ["runMemo", env, "r1"],
    ["event", env, "e1"],
    ["eventByCallerId", env, "id"],
    ["duplicatesOf", env, "e1", 10],
    ["decisionsOfEvent", env, "e1"],
    ["decisionsOfEvents", env, ["e1", "e2"]],
    ["awaitedNames", env, 10],
    ["duplicatesOfRun", env, "r1", 10],
    ["claim", env, "http", "k"],
    ["counts", env],
    ["crons", env],
    ["limitUses", env, 10],
    ["buffer", env, "f", "batch", "k"],
    ["pendingCounts", env],
    ["cancelCandidates", env, "e5", [{ path: "data.a", value: "1" }]],
  ] as const) {
    core.read(name as any, input);
  }
  clock.advance(3_600_000);
  for (const max of [1, 5, 1_000]) commit("prune", { env, before: clock.wallMs(), after: "", max, auditBefore: 1 });
  core.close();

  function exerciseFlow(): void {
    const ingest = (id: string, flow: object, over: object = {}) =>
      commit("ingest", {
        env,
        registration: null,
        events: [event(id, "flow", null)],
        pairs: [{ ...start(`run-${id}`, "w1"), key: JSON.stringify(id), flow: { ...plainFlow, ...flow }, ...over }],
        leaseTo: "w1",
      });
    const caps = { slots: [1], throttle: { limit: 1, periodMs: 1_000, burst: 1 } };
    const lane = { name: JSON.stringify(["f", ["s"], "t"]), caps };
    const cancelOn = [{ eventName: "stop", path: "", value: "", rest: null, lastsMs: null }];
    for (const id of ["f1", "f2", "f3"]) ingest(id, { lane, cancelOn, startWithinMs: 1 });
    for (const id of ["f4", "f5"])
      ingest(id, { singleton: { key: "s", mode: "skip" }, rateLimit: { id: "r", limit: 2, periodMs: 10 } });
    ingest("f6", { singleton: { key: "s", mode: "cancel", result: "{}" } });
    const batch = { kind: "batch", key: "k", maxSize: 2, timeoutMs: 1_000, bytesMax: 1_000 };
    for (const id of ["f7", "f8"]) ingest(id, { buffer: batch });
    const debounce = { kind: "debounce", key: "k", periodMs: 10, timeoutMs: null };
    for (const id of ["f9", "g1"]) ingest(id, { buffer: debounce });
    clock.advance(5_000);
    for (let i = 0; i < 3; i++) commit("lease", { env, worker: "w1", functions: ["f"], caps: { f: caps }, max: 10 });
    commit("ingest", { env, registration: null, events: [event("stop1", "stop", null)], pairs: [], leaseTo: "w1" });
    const held = { kind: "held", event: 0, fn: "f", reason: "no key" };
    commit("ingest", { env, registration: null, events: [event("h1", "flow", null)], pairs: [held], leaseTo: "w1" });
    commit("redecide", { env, registration: null, eventId: "h1", pair: { ...held, kind: "dropped" }, reason: "test" });
    const tick = { fn: "g", cron: "0 9 * * *", tickAt: clock.wallMs(), event: event("t1", "tick", null) };
    const pair = { ...start("run-t1", "w1"), fn: "g", key: null };
    commit("tick", { env, registration: null, ticks: [{ ...tick, pair, speaksFor: null }], leaseTo: "w1" });
  }
}
