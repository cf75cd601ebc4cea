// The same random calls on two stores of one database: in one the batches of the hot path execute them, in the other the operations in `rules`, one
// call at a time. After every group of calls, results and rows of both must be equal.
//
// Both stores read one clock, which moves only between groups. What may differ is normalized, and nothing else:
//
//   stamps             Each store draws its own, and a batch draws more. A stamp becomes its rank where stamps are compared: among the steps,
//                      attempts and waits of one run, the starts of one rate limit, and the entries of the audit. For a wait or a rule that
//                      cancels, the events that are later remain. In results a stamp becomes the id of the step it belongs to.
//   seen               Only a worker that keeps its lease reads it: a later lease brings all outcomes. Elsewhere a batch returns what it was given.
//   end_notes          A batch writes one note for all runs of a function that end together. Notes are added up, as all readers do.
//   had_waits          It says that a run's end must look for waits and rules that cancel. A batch does not set it for a wait that was over before it
//                      began. Compared is whether a run that has such rows says so.
//   locks              These rows exist only to be locked, and a batch locks more of them.
//   throttles          A row whose `tat` is 0 was made to be locked; readers treat it like a missing one.
//   buffers            A batch names a new buffer after the first event that asks for it, even where that event turns out to be a duplicate. The name
//                      becomes that of the function and key.
//   heartbeats         Each store counts its own, under a random name.
//   meta               The store's own id is random. The registration and the clock are compared.
//   physical order     Rows are sorted. So are the jobs of a lease and the candidates of a read: their order is not defined within one instant.
//   rank               Which of two jobs of one rank in one queue a lease takes is not defined. Before a lease, the jobs of each queue are numbered by
//                      rank and id, in both stores.
import { isDeepStrictEqual } from "node:util";
import pg from "pg";
import { ManualClock } from "../../platform/manual-clock.ts";
import { withRealTimers } from "../../testing/real-timers.suite.ts";
import type { AdvanceAnswer, AdvanceInput } from "../advance.ts";
import { newEvent, startFlow, startPair } from "../contract/world.ts";
import type { LeasedJob, LeaseInput } from "../leases.ts";
import type { Store } from "../store.ts";
import { orderCalls } from "./batch-order.suite.ts";
import type { openPostgresStore } from "./postgres-store.ts";
import {
  type Call,
  eventNames,
  type Group,
  type GroupKind,
  RandomCalls,
  readNames,
  type StoreRows,
} from "./random-calls.suite.ts";
import { quoted, tableNames } from "./statement.ts";
import { bucketOf } from "./wait-checks.ts";

type Row = Readonly<Record<string, unknown>>;
type Rows = Readonly<Record<string, readonly Row[]>>;

/** One of the two stores, and what its callers know. */
class Execution {
  /** By run: the stamp up to which its worker was told of outcomes. */
  private readonly reported = new Map<string, number>();
  /** By input: a repeat says the same as the first time. */
  private readonly seen = new Map<object, number>();

  constructor(
    readonly schema: string,
    readonly store: Store,
    /** How many times the store planned a batch since this was last read. */
    readonly takePlanned: () => number,
    private readonly numberQueues: (env: string) => Promise<unknown>,
  ) {}

  begin(): void {
    this.reported.clear();
    this.seen.clear();
  }

  seenOf(call: Call): number {
    if (call.name !== "advance") return 0;
    const known = this.seen.get(call.input);
    if (known !== undefined) return known;
    const seen = call.seen === "none" ? 0 : (this.reported.get(call.input.runId) ?? 0);
    this.seen.set(call.input, seen);
    return seen;
  }

  /** A failure is a result, so that the other store's is known too. */
  async call(call: Call): Promise<unknown> {
    try {
      if (call.name === "lease") await this.numberQueues((call.input[0] as LeaseInput).env);
      const result = await this.submit(call);
      this.note(call, result);
      return result;
    } catch (error) {
      return { thrown: (error as Error).message };
    }
  }

  private submit(call: Call): Promise<unknown> {
    if (call.name === "advance") return this.store.advance({ ...call.input, seen: this.seenOf(call) } as AdvanceInput);
    const input = Array.isArray(call.input) ? call.input : [call.input];
    const of = (isRead(call) ? this.store.reads : this.store) as unknown as Record<
      string,
      (...input: readonly unknown[]) => Promise<unknown>
    >;
    return of[call.name]!(...input);
  }

  private note(call: Call, result: unknown): void {
    if (call.name === "advance") {
      const answer = result as AdvanceAnswer;
      const { runId } = call.input;
      // Results of calls that were submitted at once arrive in any order.
      if (answer.kind === "advanced" && answer.leased) {
        this.reported.set(runId, Math.max(answer.seen, this.reported.get(runId) ?? 0));
      }
    }
    for (const job of leasedJobs(result)) {
      if (job.kind === "run") this.reported.set(job.memo.run.id, job.memo.steps.at(-1)?.stamp ?? 0);
    }
  }
}

const isRead = ({ name }: Call): boolean => (readNames as readonly string[]).includes(name);

/** Those that the result of a call handed to its caller. */
function leasedJobs(result: unknown): readonly LeasedJob[] {
  if (result === null || typeof result !== "object") return [];
  const { jobs, leased, ingested } = result as { jobs?: unknown; leased?: unknown; ingested?: unknown };
  const own = [jobs, leased].flatMap((each) => (Array.isArray(each) ? (each as LeasedJob[]) : []));
  const single = leased !== null && typeof leased === "object" && !Array.isArray(leased) ? [leased as LeasedJob] : [];
  return [...own, ...single, ...leasedJobs(ingested ?? null)];
}

// ------------------------------------------------------------------------------------------------ rows

/** How nodes find what each of them is about to commit, not what they commit. */
const ownTables: ReadonlySet<string> = new Set([
  "locks",
  "heartbeats",
  "watched_names",
  "event_arrivals",
  "wait_checks",
]);
const comparedTables = tableNames.filter((table) => !ownTables.has(table));
/** Long texts are compared by their hashes. */
const columnsOf: Readonly<Record<string, string>> = { run_logs: "env, run_id, part, md5(lines) as lines" };

/** Tables that the generator reads. */
const generatorTables: readonly (keyof StoreRows)[] = [
  "jobs",
  "runs",
  "waits",
  "steps",
  "events",
  "claims",
  "cancels",
  "decisions",
  "run_logs",
];

const isOfSequence: Readonly<Record<string, string>> = {
  workers: "id like $1 || ' %'",
  meta: "name in ('registration:' || $1, 'clock', 'clock-steps')",
};

/** Rows of one environment as JSON. A call of a function has at most a hundred arguments, so tables go into several. */
const rowsSql = (schema: string, tables: readonly string[]): string => {
  const parts = [tables.slice(0, 20), tables.slice(20)].map((part) => {
    const each = part.map(
      (table) => `'${table}', (select coalesce(json_agg(t), '[]') from (
        select ${columnsOf[table] ?? "*"} from ${quoted(schema)}.${table} where ${isOfSequence[table] ?? "env = $1"}) t)`,
    );
    return `json_build_object(${each.join(",")})`;
  });
  return `select ${parts.map((part, i) => `${part} as part${i}`).join(", ")}`;
};

/** Jobs that a lease may take are numbered in each queue, by rank and id. A timer joins its queue by its due time. */
const numberQueuesSql = (schema: string): string => `
  update ${quoted(schema)}.jobs j
     set rank = case when j.due_at is null then numbered.place else j.rank end,
         due_at = case when j.due_at is null then null else numbered.place end
    from (select env, id, min(coalesce(due_at, rank)) over (partition by env, lane) - 1000
                          + row_number() over (partition by env, lane order by coalesce(due_at, rank), id) as place
            from ${quoted(schema)}.jobs
           where env = $1 and lane is not null and leased_by is null and (due_at is null or due_at <= $2)) numbered
   where j.env = numbered.env and j.id = numbered.id`;

const emptySql = (schema: string): string =>
  tableNames
    .filter((table) => table !== "meta" && table !== "watched_names")
    .map((table) => `delete from ${quoted(schema)}.${table}`)
    .join(";");

/** Rows without what may differ. */
function normalRows(rows: Rows): Rows {
  const events = rows.events as unknown as StoreRows["events"];
  const laterEvents = (row: Row) =>
    events
      .filter(({ name, stamp }) => name === row.event_name && stamp > (row.stamp as number))
      .map(({ id }) => id)
      .sort();
  const ofRun = ranks([rows.steps!, rows.attempts!, rows.waits!].flat(), ({ run_id }) => run_id as string);
  const ofLimit = ranks(rows.rate_starts!, ({ id }) => id as string);
  const ofAudit = ranks(
    rows.audit!.map(({ id }) => ({ stamp: Number(id) })),
    () => "",
  );
  const waiting = new Set([...rows.waits!, ...rows.cancels!].map(({ run_id }) => run_id));
  const bufferNames = new Map(rows.buffers!.map(({ id, fn, kind, key }) => [id, [fn, kind, key]]));
  const normal: Record<string, readonly Row[]> = {};
  for (const [table, list] of Object.entries(rows)) {
    normal[table] = list.map((row) => {
      switch (table) {
        case "events":
          return { ...row, stamp: null };
        case "steps":
        case "attempts":
          return { ...row, stamp: ofRun(row) };
        case "waits":
          return { ...row, stamp: ofRun(row), laterEvents: laterEvents(row) };
        case "cancels":
          return { ...row, stamp: null, laterEvents: laterEvents(row) };
        case "jobs":
          return { ...row, had_waits: waiting.has(row.id) ? row.had_waits : "no rows" };
        case "buffers":
          return { ...row, id: null };
        case "buffer_items":
          return { ...row, buffer_id: bufferNames.get(row.buffer_id) ?? "no buffer" };
        case "rate_starts":
          return { ...row, stamp: ofLimit(row) };
        case "audit":
          return { ...row, id: ofAudit({ stamp: Number(row.id) }) };
        default:
          return row;
      }
    });
  }
  normal.throttles = normal.throttles!.filter(({ tat }) => tat !== 0);
  normal.end_notes = addNotes(normal.end_notes!);
  for (const table of Object.keys(normal)) normal[table] = inOrder(normal[table]!);
  return normal;
}

function ranks(rows: readonly Row[], groupOf: (row: Row) => string): (row: Row) => number {
  const groups = new Map<string, number[]>();
  for (const row of rows) {
    const group = groups.get(groupOf(row));
    if (group === undefined) groups.set(groupOf(row), [row.stamp as number]);
    else group.push(row.stamp as number);
  }
  for (const group of groups.values()) group.sort((a, b) => a - b);
  return (row) => groups.get(groupOf(row))!.indexOf(row.stamp as number);
}

function addNotes(notes: readonly Row[]): readonly Row[] {
  const sums = new Map<string, Record<string, unknown>>();
  for (const { n: _, completed, failed, cancelled, oldest, took, ...of } of notes) {
    const name = JSON.stringify(of);
    const sum = sums.get(name) ?? { ...of, completed: 0, failed: 0, cancelled: 0, oldest, took: [] };
    sums.set(name, {
      ...sum,
      completed: (sum.completed as number) + (completed as number),
      failed: (sum.failed as number) + (failed as number),
      cancelled: (sum.cancelled as number) + (cancelled as number),
      oldest: Math.min(sum.oldest as number, oldest as number),
      took: [...(sum.took as number[]), ...(took as string).split(" ").filter(Boolean).map(Number)].sort(
        (a, b) => a - b,
      ),
    });
  }
  return [...sums.values()];
}

function inOrder(rows: readonly Row[]): readonly Row[] {
  const texts = new Map(rows.map((row) => [row, JSON.stringify(row)]));
  return rows.toSorted((a, b) => (texts.get(a)! < texts.get(b)! ? -1 : 1));
}

// ------------------------------------------------------------------------------------------------ results

/** A result without what may differ. `rows` are those after the call: a step keeps its stamp for ever. */
function normalResult(call: Call, result: unknown, rows: Rows): unknown {
  const stepAt = (runId: string, stamp: unknown): unknown =>
    (rows.steps as unknown as StoreRows["steps"]).find((step) => step.run_id === runId && step.stamp === stamp)
      ?.step_id ?? (stamp === 0 ? 0 : "no step");
  const visit = (value: unknown, runId: string | null): unknown => {
    if (Array.isArray(value)) return value.map((each) => visit(each, runId));
    if (value === null || typeof value !== "object") return value;
    const of = (value as { run?: { id?: string } }).run?.id ?? runId;
    const isJobs = (name: string, each: unknown) => name === "jobs" && Array.isArray(each);
    return Object.fromEntries(
      Object.entries(value).map(([name, each]) => {
        if (name === "seen" && (value as { leased?: unknown }).leased === false) return [name, "not read"];
        if ((name === "stamp" || name === "seen") && of !== null) return [name, stepAt(of, each)];
        if (name === "stamps" && Array.isArray(each) && of !== null)
          return [name, each.map((stamp) => stepAt(of, stamp))];
        const normal = visit(each, of);
        return [name, isJobs(name, each) ? inOrder(normal as Row[]) : normal];
      }),
    );
  };
  const normal = visit(result, call.name === "advance" ? call.input.runId : null);
  return isRead(call) && Array.isArray(normal) ? inOrder(normal as Row[]) : normal;
}

interface Difference {
  readonly at: string;
  readonly batched: unknown;
  readonly single: unknown;
}

/** The first place in which two values differ; null where they are equal. */
function firstDifference(batched: unknown, single: unknown, at: string): Difference | null {
  if (isDeepStrictEqual(batched, single)) return null;
  const isBranch = (value: unknown): value is object => typeof value === "object" && value !== null;
  const isList = Array.isArray(batched) && Array.isArray(single);
  if (!isBranch(batched) || !isBranch(single) || (isList && batched.length !== single.length))
    return { at, batched, single };
  for (const name of new Set([...Object.keys(batched), ...Object.keys(single)])) {
    const one = (batched as Record<string, unknown>)[name];
    const other = (single as Record<string, unknown>)[name];
    const found = firstDifference(one, other, `${at}.${name}`);
    if (found !== null) return found;
  }
  return { at, batched, single };
}

/** The rows of a table that only one of the stores has; of a row that both have, the column that differs. */
function rowsDifference(batched: Rows, single: Rows): Difference | null {
  for (const table of Object.keys(single)) {
    const [ours, theirs] = [batched[table]!, single[table]!];
    if (isDeepStrictEqual(ours, theirs)) continue;
    const known = new Set(theirs.map((row) => JSON.stringify(row)));
    const alsoOurs = new Set(ours.map((row) => JSON.stringify(row)));
    const onlyOurs = ours.filter((row) => !known.has(JSON.stringify(row)));
    const onlyTheirs = theirs.filter((row) => !alsoOurs.has(JSON.stringify(row)));
    const [one] = onlyOurs;
    const alike =
      one === undefined
        ? undefined
        : onlyTheirs.find((row) => row.id === one.id && row.run_id === one.run_id && row.step_id === one.step_id);
    if (one !== undefined && alike !== undefined) {
      const found = firstDifference(one, alike, `row of ${table} ${JSON.stringify(namesOf(one))}`);
      if (found !== null) return found;
    }
    return { at: `rows of ${table}`, batched: onlyOurs, single: onlyTheirs };
  }
  return null;
}

const namesOf = (row: Row): Row =>
  Object.fromEntries(Object.entries(row).filter(([name]) => /^(id|run_id|step_id|event_id|fn|scope|key)$/.test(name)));

// ------------------------------------------------------------------------------------------------ the two stores

export interface DifferentialOptions {
  readonly url: string;
  /** Of the store under test, and of the one that it is compared with. */
  readonly open: typeof openPostgresStore;
}

/** What a batch leaves undone follows it in the order of submission. */
class SingleSession extends pg.Pool {
  constructor(config: pg.PoolConfig) {
    super({ ...config, max: 1 });
  }
}

/** How much of a sequence is executed. */
interface Extent {
  readonly groups: number;
  /** Of the last group; all of them by default. */
  readonly lastCalls?: number;
}

export interface Failure {
  readonly seed: number;
  readonly group: number;
  /** The call's number in the sequence; the last one for a difference of rows. */
  readonly call: number;
  readonly difference: Difference;
  /** The sequence up to the difference, a line for each call. */
  readonly story: readonly string[];
}

/** A call and its results in both stores. */
interface ExecutedCall {
  readonly call: Call;
  readonly group: number;
  readonly kind: GroupKind;
  /** How many calls were submitted with it. */
  readonly size: number;
  readonly afterMs: number;
  readonly batched: unknown;
  readonly single: unknown;
}

const groupsOfSequence = 14;
const hourMs = 3_600_000;

export class BatchDifferential {
  /** How often each kind of call was answered in which way. */
  readonly counts = new Map<string, number>();
  private sequences = 0;

  private constructor(
    private readonly clock: ManualClock,
    private readonly admin: pg.Client,
    private readonly batched: Execution,
    private readonly single: Execution,
  ) {}

  static async open({ url, open }: DifferentialOptions): Promise<BatchDifferential> {
    const clock = new ManualClock();
    const admin = new pg.Client({ connectionString: url, options: "-c plan_cache_mode=force_generic_plan -c jit=off" });
    await admin.connect();
    const openExecution = async (schema: string, isUnbatched: boolean): Promise<Execution> => {
      let planned = 0;
      const store = await open({
        url: `${url}?schema=${schema}`,
        pg: { Pool: SingleSession as unknown as typeof pg.Pool, Client: pg.Client, types: pg.types },
        platform: {
          ...withRealTimers(clock),
          soon: (run) => {
            planned++;
            setImmediate(run);
          },
        },
        owner: schema,
        wallMs: () => clock.wallMs(),
        isUnbatched,
      });
      const takePlanned = () => {
        const count = planned;
        planned = 0;
        return count;
      };
      const numberQueues = (env: string) => admin.query(numberQueuesSql(schema), [env, clock.wallMs()]);
      return new Execution(schema, store, takePlanned, numberQueues);
    };
    const [batched, single] = await Promise.all([openExecution("batched", false), openExecution("single", true)]);
    return new BatchDifferential(clock, admin, batched, single);
  }

  async close(): Promise<void> {
    await Promise.all([this.batched.store.close(), this.single.store.close(), this.admin.end()]);
  }

  /** Null where both stores agree; else the shortest beginning of the sequence in which they do not. */
  async run(seed: number): Promise<Failure | null> {
    const whole = await this.execute(seed, { groups: groupsOfSequence }, this.counts);
    if (whole === null) return null;
    for (let groups = 1; groups <= groupsOfSequence; groups++) {
      const shorter = await this.execute(seed, { groups });
      if (shorter === null) continue;
      for (let lastCalls = 1; lastCalls <= shorter.story.length; lastCalls++) {
        const shortest = await this.execute(seed, { groups, lastCalls });
        if (shortest !== null) return shortest;
      }
      return shorter;
    }
    return whole;
  }

  private async execute(seed: number, extent: Extent, counts?: Map<string, number>): Promise<Failure | null> {
    const env = `env${++this.sequences}`;
    const { batched, single, clock } = this;
    // A sequence begins at a full hour, whatever came before it: minutes and hours are the same when it is repeated alone.
    clock.advance(2 * hourMs - (clock.wallMs() % hourMs));
    await this.watchNames(env);
    for (const each of [batched, single]) each.begin();
    const calls = new RandomCalls(seed, env);
    const executed: ExecutedCall[] = [];
    for (let number = 1; number <= extent.groups; number++) {
      const rows = await this.generatorRows(env);
      const group = calls.next(rows, clock.wallMs());
      const isCut = number === extent.groups && extent.lastCalls !== undefined;
      const shown = isCut ? { ...group, calls: group.calls.slice(0, extent.lastCalls) } : group;
      for (const each of await this.executeGroup(shown, rows, calls.registration)) {
        executed.push({ ...each, group: number, kind: group.kind, afterMs: group.afterMs });
        const { registration } = (each.single ?? {}) as { registration?: number };
        if (registration !== undefined) calls.registration = Math.max(calls.registration, registration);
      }
    }
    const failure = await this.compare(seed, env, executed);
    if (failure === null && counts !== undefined) for (const each of executed) countCall(counts, each);
    // A store gives every other lease the odd job: the next sequence begins as a first one does.
    if (executed.filter(({ call }) => call.name === "lease").length % 2 === 1) await this.leaseNothing(env);
    await this.admin.query([emptySql(batched.schema), emptySql(single.schema)].join(";"));
    return failure;
  }

  private async executeGroup(
    group: Group,
    rows: StoreRows,
    registration: number,
  ): Promise<readonly Pick<ExecutedCall, "call" | "batched" | "single" | "size">[]> {
    const { batched, single, clock } = this;
    clock.advance(group.afterMs);
    const seenOf = (call: Call) => single.seenOf(call);
    const ordered = orderCalls({ ...group, rows, now: clock.wallMs(), registration, seenOf });
    const calls = group.calls.filter((call) => ordered.includes(call));
    // Calls that are submitted at once know nothing of each other's results.
    for (const call of calls) for (const each of [batched, single]) each.seenOf(call);
    batched.takePlanned();
    const [ours, theirs] = await Promise.all([
      group.kind === "single" ? oneByOne(batched, calls) : atOnce(batched, calls),
      oneByOne(single, ordered),
    ]);
    const planned = batched.takePlanned();
    const isBatch = group.kind !== "single" && group.kind !== "reads" && !calls.some(isDirect);
    if (isBatch && calls.length > 0 && planned !== 1)
      throw new Error(`${calls.length} calls were ${planned} batches instead of one`);
    if (single.takePlanned() > 0) throw new Error("the store without batches planned one");
    return calls.map((call) => ({ call, batched: ours.get(call), single: theirs.get(call), size: calls.length }));
  }

  private async compare(seed: number, env: string, executed: readonly ExecutedCall[]): Promise<Failure | null> {
    const [ours, theirs] = await Promise.all(
      [this.batched, this.single].map((each) => this.readRows<Rows>(each, env, comparedTables)),
    );
    const story = executed.map(
      ({ kind, group, afterMs, call }, n) =>
        `${n + 1}. group ${group}, ${kind}, after ${afterMs} ms: ${call.name} ${shortText(call.input)}`,
    );
    for (const [n, { call, batched, single, group }] of executed.entries()) {
      const { thrown } = (single ?? {}) as { thrown?: string };
      if (thrown !== undefined) throw new Error(`${story[n]} failed without batches: ${thrown}`);
      const difference = firstDifference(
        normalResult(call, batched, ours!),
        normalResult(call, single, theirs!),
        "result",
      );
      if (difference !== null) return { seed, group, call: n + 1, difference, story };
    }
    const difference = rowsDifference(normalRows(ours!), normalRows(theirs!));
    return difference === null
      ? null
      : { seed, group: executed.at(-1)!.group, call: executed.length, difference, story };
  }

  /** In the order of their keys, with which every row begins: the same seed draws the same rows. */
  private async generatorRows(env: string): Promise<StoreRows> {
    const rows = await this.readRows<Rows>(this.single, env, generatorTables);
    return Object.fromEntries(generatorTables.map((table) => [table, inOrder(rows[table]!)])) as unknown as StoreRows;
  }

  private async readRows<R>({ schema }: Execution, env: string, tables: readonly string[]): Promise<R> {
    const name = `${tables.length} tables of ${schema}`;
    const { rows } = await this.admin.query({ name, text: rowsSql(schema, tables), values: [env] });
    return { ...rows[0].part0, ...rows[0].part1 };
  }

  /** The first wait for a name starts its transaction over, and two calls for one run may change places. */
  private async watchNames(env: string): Promise<void> {
    // As ready as another node would have left them: no transaction is waited for.
    const buckets = eventNames.map((name) => `('${env}', '${bucketOf(name)}', 1, ${this.clock.wallMs()})`).join();
    const schemas = [this.batched, this.single].map(({ schema }) => quoted(schema));
    await this.admin.query(
      schemas
        .map((schema) => `insert into ${schema}.watched_names (env, bucket, ready, used_at) values ${buckets}`)
        .join(";"),
    );
    const cancelOn = eventNames.map((eventName) => ({ eventName, path: "", value: "", rest: null, lastsMs: null }));
    const pairs = [startPair("watch", { flow: startFlow({ cancelOn }) })];
    const input = { env, registration: null, events: [newEvent("watch")], pairs, leaseTo: null };
    for (const { store } of [this.batched, this.single]) await store.ingest(input);
    const written = ["events", "decisions", "runs", "jobs", "cancels", "wait_checks", "event_arrivals"];
    await this.admin.query(
      schemas.flatMap((schema) => written.map((table) => `delete from ${schema}.${table}`)).join(";"),
    );
  }

  private async leaseNothing(env: string): Promise<void> {
    for (const { store } of [this.batched, this.single]) {
      await store.lease({ env: `${env} none`, worker: "none", functions: [], caps: {}, max: 1 });
    }
  }
}

/** Invokes whose event has its sender's id are not taken by a batch. */
const isDirect = (call: Call): boolean =>
  call.name === "advance" && call.input.next.kind === "suspend" && call.input.ingest?.events[0]?.callerId != null;

async function atOnce(execution: Execution, calls: readonly Call[]): Promise<ReadonlyMap<Call, unknown>> {
  const results = await Promise.all(calls.map((call) => execution.call(call)));
  return new Map(calls.map((call, place) => [call, results[place]]));
}

async function oneByOne(execution: Execution, calls: readonly Call[]): Promise<ReadonlyMap<Call, unknown>> {
  const results = new Map<Call, unknown>();
  for (const call of calls) results.set(call, await execution.call(call));
  return results;
}

/** Without what a reader of the story can do without. */
const shortText = (input: unknown): string =>
  JSON.stringify(input, (name, each) => {
    const isEmpty = each === null || each === false || (Array.isArray(each) && each.length === 0);
    const isUsual = /^(env|subject|generation|extra|windowMs|repeat|functions|caps)$/.test(name) && name !== "";
    return isEmpty || isUsual
      ? undefined
      : typeof each === "string" && each.length > 100
        ? `${each.slice(0, 20)}…`
        : each;
  });

// ------------------------------------------------------------------------------------------------ what was covered

function countCall(counts: Map<string, number>, { call, kind, size, single }: ExecutedCall): void {
  const names = [`${kind}: ${wordsOf(call, single)}`, ...decisionsOf(single).map((each) => `decision: ${each}`)];
  if (kind !== "single") names.push(`${kind} submitted ${size > 1 ? "with others" : "alone"}`);
  for (const name of names) counts.set(name, (counts.get(name) ?? 0) + 1);
}

/** A call and how it was answered, in a few words. */
function wordsOf(call: Call, result: unknown): string {
  const { kind, woken, news, leased } = (result ?? {}) as {
    kind?: string;
    woken?: unknown;
    news?: readonly unknown[];
    leased?: boolean;
  };
  if (isRead(call) || kind === undefined) return call.name;
  if (call.name === "advance" && kind === "advanced") {
    const end = call.input.next.kind === "end" ? "ended" : leased === true ? "kept its lease" : "gave its lease back";
    return `${end}${(woken as readonly unknown[]).length > 0 ? ", woke others" : ""}${news!.length > 0 ? ", has news" : ""}`;
  }
  if (call.name === "resume" && kind === "resumed") {
    return (woken as readonly unknown[]).length > 0 ? "resumed" : "resumed nobody";
  }
  return `${call.name} ${kind}`;
}

const decisionsOf = (result: unknown): readonly string[] => {
  const { decisions, ingested } = (result ?? {}) as { decisions?: readonly { kind: string }[]; ingested?: unknown };
  if (decisions !== undefined) return decisions.map(({ kind }) => kind);
  return ingested == null ? [] : decisionsOf(ingested);
};
