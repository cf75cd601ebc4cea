// A wait and the event it waits for may be committed at the same time, on two nodes. Neither transaction sees the other's rows, so one of
// them has to look again later. The transaction that begins the wait does (W); it is the rarer one.
//
//   E stores an event                                W begins a wait, or starts a run that an event can cancel
//   ─────────────────                                ──────────────────────────────────────────────────────────
//   1 insert the event                               1 insert the wait
//   2 in one statement: look for waits, and, if      2 insert a check: the event's name, the wait's stamp, W's
//     the name is watched, insert an arrival with      transaction id
//     the snapshot of that statement                 3 commit
//   3 commit; if a wait was found, deliver           4 every transaction open at the commit has ended: look for
//                                                      arrivals with a later stamp whose snapshot does not show W,
//                                                      deliver those events, delete the check
//
// Why none is missed: let E's event have a later stamp than W's wait. If E's statement 2 sees W, E delivers. If it does not, E already had a
// transaction id (by statement 1) when W committed, so step 4 waits for E, finds its arrival and delivers. Delivering twice is harmless.
//
// Arrivals cost a row per event, so only watched names have them. A name is watched for good before the first wait begins: the row of
// watched_names is committed, every transaction that did not see it ends, then it is `ready`, and only attempts that begin after that may
// begin a wait (`UnwatchedName` makes the transaction start over). Names share 256 buckets, so programs that make up names per run do not
// fill the table. System events are stored only if they are awaited; they have a bucket each, and are stored while it is watched.
//
// A node that dies between 3 and 4 leaves its checks; maintenance of any node adopts them.
import type { Platform, Timer } from "../../platform/platform.ts";
import { firstStampAt } from "../clock.ts";
import type { NewEvent } from "../ingest.ts";
import type { Connection } from "./connection.ts";
import { insertJob } from "./insert-run.ts";
import { inEnv, type Transaction } from "./transaction.ts";
import type { Transactions } from "./transactions.ts";

/** "offset 0": or the planner reads all waits into a table of names, to look up one of them. */
const hasListener = (env: string, name: string) => `
  (exists (select 1 from waits w where w.env = ${env} and w.event_name = ${name} offset 0)
   or exists (select 1 from cancels c where c.env = ${env} and c.event_name = ${name} offset 0))`;

const arriveSql = (snapshot: string) => `
  with given as materialized (
    select * from unnest(cast(:envs as text[]), cast(:names as text[]), cast(:buckets as text[]), cast(:ids as text[]))
      as g (env, name, bucket, id)),
  arrived as (
    insert into event_arrivals (stamp, env, event_id, name, snapshot)
    select stored.stamp, given.env, given.id, given.name, ${snapshot}
      from given, lateral (
        select e.stamp from events e
         where e.env = given.env and e.id = given.id and e.received_at = cast(:now as bigint)
           and exists (select 1 from watched_names b where b.env = given.env and b.bucket = given.bucket offset 0)
         limit 1) as stored
    on conflict (stamp, env, event_id) do nothing)
  select env, name from (select distinct env, name from given) as distinct_names
   where ${hasListener("distinct_names.env", "distinct_names.name")}`;

const mayBeAwaitedSql = `
  select 1 where ${hasListener(":env", ":name")}
              or exists (select 1 from watched_names where env = :env and bucket = :bucket)`;

// A check of a name that is not ready violates "not null", which undoes the transaction: no round trip to ask first.
const insertChecksSql = (xid: string) => `
  insert into wait_checks (env, name, stamp, xid, node, at, ready)
  select g.env, g.name, g.stamp, ${xid}, cast(:node as text), cast(:now as bigint),
         (select w.ready from watched_names w where w.env = g.env and w.bucket = g.bucket and w.ready = 1)
    from unnest(cast(:envs as text[]), cast(:names as text[]), cast(:buckets as text[]), cast(:stamps as bigint[]))
      as g (env, name, bucket, stamp)`;

const watchSql = `
  insert into watched_names (env, bucket, ready, used_at)
  select env, bucket, 0, cast(:now as bigint) from unnest(cast(:envs as text[]), cast(:buckets as text[])) as g (env, bucket)
  on conflict (env, bucket) do update set used_at = excluded.used_at
  returning ready`;
const readySql = `
  update watched_names set ready = 1
   where (env, bucket) in (select env, bucket from unnest(cast(:envs as text[]), cast(:buckets as text[])) as g (env, bucket))`;

const pendingSql = (snapshot: string) => `
  select id, ${snapshot} as snapshot from wait_checks where node = ? order by id limit 500`;
const snapshotSql = "select cast(pg_current_snapshot() as text) as snapshot";
/** Transactions that are certainly not a node's. Other roles' sessions show no transaction id, and count as nodes'. */
const foreignSql = `
  select cast(backend_xid as text) as xid from pg_stat_activity
   where backend_xid is not null and (datname <> current_database() or application_name not like 'idem %')`;

// What a transaction itself stored it has decided by itself. A row shows the lower half of its transaction's id.
const isUnseenByWait = `
  not pg_visible_in_snapshot(cast(c.xid as xid8), cast(a.snapshot as pg_snapshot))
  and a.stored_by <> cast(cast(c.xid as bigint) % 4294967296 as text)`;

const missedSql = (isPlain: boolean) => `
  select a.env, a.event_id, min(c.id) as id
    from wait_checks c cross join lateral (
      select a.env, a.event_id, a.snapshot${isPlain ? "" : ", cast(a.xmin as text) as stored_by"} from event_arrivals a
       where a.stamp > c.stamp and a.env = c.env and a.name = c.name) as a
   where c.id = any(cast(:ids as bigint[])) and ${isPlain ? "true" : isUnseenByWait}
   group by a.env, a.event_id`;
const deleteChecksSql = "delete from wait_checks where id = any(cast(? as bigint[]))";

const adoptSql = "update wait_checks set node = ? where at < ? and node <> ?";
const forgetArrivalsSql = "delete from event_arrivals where stamp < ?";
// First no new wait relies on the name; an hour later, longer than any transaction lasts, its events are no longer listed.
const retireSql = "update watched_names set ready = 0, used_at = ? where ready = 1 and used_at < ?";
const unwatchSql = "delete from watched_names where ready = 0 and used_at < ?";

const bucketsCount = 256;
const systemPrefix = "inngest/";
const hourMs = 60 * 60 * 1_000;
const unusedMs = 7 * 24 * hourMs;
/** This process says that it uses a name this often, which is well before the name is no longer watched. */
const renewMs = 6 * hourMs;
/** Longer than any transaction that begins a wait. */
const arrivalsKeptMs = 5 * 60 * 1_000;
const adoptAfterMs = 30_000;

const tickMs = 50;
const slowTickMs = 500;
const brokenMs = 1_000;
/** Looks before all transactions have ended: one of them may be a user's long one. */
const earlyLooksMs = [100, 1_000, 5_000, 20_000];
/** A transaction of a node is over by then: its lock and idle times are bounded. */
const lookMaxMs = 60_000;
const readyMaxMs = 10_000;
/** Where snapshots cannot be compared, transactions are taken for ended after this. */
const plainLookMs = 15_000;

/** The rows of watched_names that stand for a name. */
export function bucketOf(name: string): string {
  if (name.startsWith(systemPrefix)) return name;
  let hash = 0x811c9dc5;
  for (let i = 0; i < name.length; i++) hash = Math.imul(hash ^ name.charCodeAt(i), 0x01000193);
  return String((hash >>> 0) % bucketsCount);
}

export interface WatchedName {
  readonly env: string;
  readonly name: string;
}

/** A wait, or a rule that cancels a run, that a transaction inserts. */
export interface NewListener extends WatchedName {
  readonly stamp: number;
}

/** The transaction begins a wait for a name that was not watched when it began. It starts over once the name is. */
export class UnwatchedName extends Error {
  constructor(readonly names: readonly WatchedName[]) {
    super(`events named ${names.map(({ name }) => JSON.stringify(name)).join(", ")} are not watched yet`);
  }
}

const isNotReady = (error: unknown): boolean => {
  const { code, table, column } = error as { code?: unknown; table?: unknown; column?: unknown };
  return code === "23502" && table === "wait_checks" && column === "ready";
};

interface Check {
  /** Transactions that were open when the check was first read, and still are. */
  open: ReadonlySet<string>;
  readonly sinceMono: number;
  /** How often it was read, and how often arrivals were looked for before all of those had ended. */
  reads: number;
  looks: number;
}

export interface WaitChecksOptions {
  readonly platform: Pick<Platform, "timer" | "monoMs" | "randomBytes">;
  readonly connection: Connection;
  readonly transactions: Pick<Transactions, "run" | "untilKnown">;
  /** For servers that have no snapshots to compare: arrivals are delivered again, and transactions are waited for by time. */
  readonly isPlain: boolean;
  /** Events were left to be delivered. */
  readonly onDelivered: (env: string) => void;
}

export class WaitChecks {
  /** This process, among those that left checks. */
  private ownNode: string | null = null;
  /** By environment and bucket: the attempts that may rely on it, and until when this process need not renew it. */
  private readonly watched = new Map<string, { readonly since: number; readonly untilMono: number }>();
  private attempts = 0;
  private readonly pending = new Map<number, Check>();
  private timer: Timer | null = null;
  private isLooking = false;
  /** Checks were committed during a look, which may have read without them. */
  private isAgain = false;
  private isClosed = false;
  private readonly sql: Record<"arrive" | "insertChecks" | "pending" | "missed", string>;

  constructor(private readonly options: WaitChecksOptions) {
    const { isPlain } = options;
    const snapshot = isPlain ? "''" : "cast(pg_current_snapshot() as text)";
    this.sql = {
      arrive: arriveSql(snapshot),
      insertChecks: insertChecksSql(isPlain ? "''" : "cast(pg_current_xact_id() as text)"),
      pending: pendingSql(snapshot),
      missed: missedSql(isPlain),
    };
  }

  private get node(): string {
    this.ownNode ??= Buffer.from(this.options.platform.randomBytes(9)).toString("base64url");
    return this.ownNode;
  }

  /** The number of an attempt that begins now. */
  attempt(): number {
    return ++this.attempts;
  }

  // ------------------------------------------------------------------------------------------------ E: events

  /** Lists those whose names are watched; returns the names that runs wait for or are cancelled by. The events were inserted before. */
  arrive(
    { connection, at }: Pick<Transaction, "connection" | "at">,
    events: readonly { readonly env: string; readonly event: Pick<NewEvent, "id" | "name"> }[],
  ): Promise<readonly WatchedName[]> {
    return connection.find<WatchedName>(this.sql.arrive, {
      now: at.now,
      envs: events.map(({ env }) => env),
      names: events.map(({ event }) => event.name),
      buckets: events.map(({ event }) => bucketOf(event.name)),
      ids: events.map(({ event }) => event.id),
    });
  }

  /** The same for one event: whether a run waits for it, or is cancelled by it, as far as its name tells. */
  async isAwaited(tx: Transaction, env: string, event: Pick<NewEvent, "id" | "name">): Promise<boolean> {
    return (await this.arrive(tx, [{ env, event }])).length > 0;
  }

  /** Whether an event that is stored only for runs that wait for it has to be. */
  async mayBeAwaited({ connection }: Pick<Transaction, "connection">, env: string, name: string): Promise<boolean> {
    return (await connection.find(mayBeAwaitedSql, { env, name, bucket: bucketOf(name) })).length > 0;
  }

  // ------------------------------------------------------------------------------------------------ W: waits

  /** Throws if the attempt with this number must not rely on all of these names. */
  require(attempt: number, names: readonly WatchedName[]): void {
    const nowMono = this.options.platform.monoMs();
    const unwatched = names.filter(({ env, name }) => {
      const known = this.watched.get(inEnv(env, bucketOf(name)));
      return known === undefined || known.since >= attempt || known.untilMono <= nowMono;
    });
    if (unwatched.length > 0) throw new UnwatchedName(unwatched);
  }

  /** Before the commit: the checks of the waits that the transaction begins. */
  insert({ connection, at }: Pick<Transaction, "connection" | "at">, listeners: Iterable<NewListener>): void {
    const all = [...listeners];
    if (all.length === 0) return;
    connection.send(this.sql.insertChecks, {
      node: this.node,
      now: at.now,
      envs: all.map(({ env }) => env),
      names: all.map(({ name }) => name),
      buckets: all.map(({ name }) => bucketOf(name)),
      stamps: all.map(({ stamp }) => stamp),
    });
  }

  /** The error of a transaction as the next attempt needs it: a name may have stopped being watched since this process looked. */
  errorOf(error: unknown, names: Iterable<WatchedName>): unknown {
    if (!isNotReady(error)) return error;
    const all = [...names];
    for (const { env, name } of all) this.watched.delete(inEnv(env, bucketOf(name)));
    return new UnwatchedName(all);
  }

  /** The checks of a transaction are committed. */
  committed(): void {
    this.lookLater(tickMs);
  }

  /** Resolves once attempts that begin from now on may begin waits for these names. */
  async watch(names: readonly WatchedName[]): Promise<void> {
    const { transactions, platform, isPlain } = this.options;
    const buckets = new Map(
      names.map(({ env, name }) => [inEnv(env, bucketOf(name)), { env, bucket: bucketOf(name) }]),
    );
    const given = [...buckets.values()].sort((a, b) => (a.bucket < b.bucket ? -1 : a.bucket > b.bucket ? 1 : 0));
    const params = { envs: given.map(({ env }) => env), buckets: given.map(({ bucket }) => bucket) };
    const rows = await transactions.run((tx) =>
      tx.connection.find<{ ready: number }>(watchSql, { ...params, now: tx.at.now }),
    );
    if (rows.some(({ ready }) => ready === 0)) {
      await (isPlain ? this.pause(readyMaxMs) : this.untilOthersEnded());
      await transactions.run((tx) => tx.connection.find(readySql, params));
    }
    const known = { since: this.attempts, untilMono: platform.monoMs() + renewMs };
    for (const key of buckets.keys()) this.watched.set(key, known);
  }

  /** Every transaction of a node that is open now has ended, or is older than one can be. */
  private async untilOthersEnded(): Promise<void> {
    const { platform } = this.options;
    const sinceMono = platform.monoMs();
    let open = new Set<string>(openIn(await this.snapshot()));
    for (
      let pauseMs = 5;
      open.size > 0 && platform.monoMs() - sinceMono < readyMaxMs;
      pauseMs = Math.min(pauseMs * 2, 200)
    ) {
      await this.pause(pauseMs);
      const still = openIn(await this.snapshot());
      open = new Set([...open].filter((xid) => still.has(xid)));
      if (open.size > 0) open = await this.withoutForeign(open);
    }
  }

  private async snapshot(): Promise<string> {
    const { connection, transactions } = this.options;
    const row = await transactions.untilKnown(() => connection.one<{ snapshot: string }>(snapshotSql));
    return row!.snapshot;
  }

  private async withoutForeign(open: ReadonlySet<string>): Promise<Set<string>> {
    const { connection, transactions } = this.options;
    const rows = await transactions.untilKnown(() => connection.all<{ xid: string }>(foreignSql));
    const foreign = new Set(rows.map(({ xid }) => Number(xid)));
    // A session shows the lower half of its transaction id.
    return new Set([...open].filter((xid) => !foreign.has(Number(BigInt(xid) % 2n ** 32n))));
  }

  private pause(ms: number): Promise<void> {
    return new Promise((resolve) => {
      this.options.platform.timer(ms, resolve, { background: true });
    });
  }

  // ------------------------------------------------------------------------------------------------ looking again

  private lookLater(ms: number): void {
    this.isAgain = true;
    if (this.isClosed || this.isLooking || this.timer !== null) return;
    this.timer = this.options.platform.timer(
      ms,
      () => {
        this.timer = null;
        this.isLooking = true;
        this.isAgain = false;
        void this.look()
          // If the store is unreachable it keeps the checks. The calls that need the store report the outage.
          .catch(() => brokenMs)
          .then((nextMs) => {
            this.isLooking = false;
            if (nextMs !== null || this.isAgain) this.lookLater(nextMs ?? tickMs);
          });
      },
      { background: true },
    );
  }

  /** Looks for what was missed; returns the time until the next look, null if no check is left. */
  private async look(): Promise<number | null> {
    const { connection, transactions, platform, isPlain, onDelivered } = this.options;
    const rows = await connection.all<{ id: number; snapshot: string }>(this.sql.pending, this.node);
    const still = openIn(rows[0]?.snapshot ?? "");
    const now = platform.monoMs();
    const listed = new Set(rows.map(({ id }) => id));
    for (const id of this.pending.keys()) if (!listed.has(id)) this.pending.delete(id);
    for (const id of listed) {
      const check = this.pending.get(id);
      if (check === undefined) this.pending.set(id, { open: still, sinceMono: now, reads: 1, looks: 0 });
      else {
        check.open = new Set([...check.open].filter((xid) => still.has(xid)));
        check.reads++;
      }
    }
    const stuck = [...this.pending.values()].filter(({ open, reads }) => open.size > 0 && reads > 1);
    if (stuck.length > 0) {
      const own = await this.withoutForeign(new Set(stuck.flatMap(({ open }) => [...open])));
      for (const check of stuck) check.open = new Set([...check.open].filter((xid) => own.has(xid)));
    }
    const isOver = ({ open, sinceMono }: Check) =>
      now - sinceMono >= (isPlain ? plainLookMs : lookMaxMs) || (open.size === 0 && !isPlain);
    const over = [...this.pending].flatMap(([id, check]) => (isOver(check) ? [id] : []));
    const early = [...this.pending].flatMap(([id, check]) => {
      if (isOver(check) || now - check.sinceMono < (earlyLooksMs[check.looks] ?? lookMaxMs)) return [];
      check.looks++;
      return [id];
    });
    const looked = [...over, ...early];
    if (looked.length > 0) {
      const missed = await connection.find<{ env: string; event_id: string; id: number }>(this.sql.missed, {
        ids: looked,
      });
      if (missed.length === 0 && over.length > 0) await connection.run(deleteChecksSql, over);
      if (missed.length > 0) {
        await transactions.run(async (tx) => {
          const existing = await tx.connection.find<{ id: string }>(existingSql, {
            envs: missed.map(({ env }) => env),
            ids: missed.map(deliverId),
          });
          const known = new Set(existing.map(({ id }) => id));
          for (const each of missed)
            if (!known.has(deliverId(each))) insertJob(tx, each.env, deliverJob(each, tx.at.now));
          if (over.length > 0) tx.connection.write(deleteChecksSql, over);
        });
        for (const env of new Set(missed.map(({ env }) => env))) onDelivered(env);
      }
      for (const id of over) this.pending.delete(id);
    }
    if (this.pending.size === 0) return rows.length === 500 ? 0 : null;
    return [...this.pending.values()].some(({ sinceMono }) => now - sinceMono < 1_000) ? tickMs : slowTickMs;
  }

  // ------------------------------------------------------------------------------------------------ maintenance

  /** Takes over what dead nodes left, and forgets what no wait needs any more. */
  async maintain({ connection, at }: Pick<Transaction, "connection" | "at">): Promise<void> {
    connection.write(forgetArrivalsSql, firstStampAt(at.now - arrivalsKeptMs));
    connection.write(retireSql, at.now, at.now - unusedMs);
    connection.write(unwatchSql, at.now - hourMs);
    if ((await connection.run(adoptSql, this.node, at.now - adoptAfterMs, this.node)) > 0) this.lookLater(tickMs);
  }

  close(): void {
    this.isClosed = true;
    this.timer?.cancel();
  }
}

const existingSql = `
  select j.id from unnest(cast(:envs as text[]), cast(:ids as text[])) as g (env, id),
    lateral (select id from jobs where env = g.env and id = g.id limit 1) as j`;

interface MissedEvent {
  readonly env: string;
  readonly event_id: string;
  /** Of the check that found it. */
  readonly id: number;
}

/** Not the id of the event's first delivery, which may be at work just now and have read the waits already. */
const deliverId = ({ event_id, id }: MissedEvent): string => `deliver:${event_id}:${id}`;

const deliverJob = (missed: MissedEvent, now: number) => ({
  id: deliverId(missed),
  kind: "deliver" as const,
  runId: null,
  eventId: missed.event_id,
  fn: null,
  rank: now,
  dueAt: null,
  fence: 0,
  leasedBy: null,
  lane: null,
  startBy: null,
  hadWaits: false,
});

/** Ids of the transactions that are open in a snapshot: `xmin:xmax:id,id`. */
const openIn = (snapshot: string): ReadonlySet<string> =>
  new Set((snapshot.split(":")[2] ?? "").split(",").filter(Boolean));
