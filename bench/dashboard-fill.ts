// A store that holds many ended runs, for the pages that list them: written row by row into the tables, spread over seven days, with the
// mixture a busy shop has. One event in five is a duplicate, one key in ten thousand was released and ran again, and a function without a
// key ran some things twice. Keys of the last day are held, and every fourth run has a step.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import Database from "better-sqlite3";
import type pg from "pg";
import { UlidSource } from "./engine.ts";
import { root } from "./machine.ts";

export interface Shop {
  readonly runs: number;
  /** The last instant anything happened. */
  readonly until: number;
}

const dayMs = 24 * 60 * 60 * 1_000;
const spanMs = 7 * dayMs;
const keyed = ["shop-bill", "shop-ship", "shop-thank", "shop-restock"];
const keyless = "shop-draft";
const releasedEvery = 10_000;
const batchRows = 5_000;

type Cell = string | number | null;
type Row = readonly Cell[];

const columns = {
  events: "env, id, caller_id, name, data, ts, extra, received_at, stamp, first_event_id, source_run_id, starts",
  decisions: "env, event_id, fn, kind, reason, run_id, key, window_ends_at, first_event_id, decided_at",
  claims:
    "env, scope, key, holder, fence, generation, state, fingerprint, taken_at, lease_until, ends_at, held, asked, last_asked_at, outcome",
  steps: "env, run_id, step_id, name, repeat, kind, outcome, json, attempt, started_at, ended_at, stamp, worker, input",
  runs: "env, id, fn, event_id, key, subject, generation, previous_run_id, rerun_of, root_run_id, ended_state, result, created_at, started_at, ended_at, window_ends_at",
} as const;
type Table = keyof typeof columns;
/** Only SQLite has these: there the run says that its event started it, and no decision is kept beside it (docs/decisions/0055). */
const onlySqlite: readonly string[] = ["starts", "window_ends_at of runs"];
const isStarted = (table: Table, row: Row): boolean => table === "decisions" && row[3] === "started";

/** Rows in the order of time, as a store would have written them. */
function* rowsOf({ runs, until }: Shop): Generator<readonly [Table, Row]> {
  const env = "default";
  let now = until - spanMs;
  const ids = new UlidSource(
    () => now,
    (count) => crypto.getRandomValues(new Uint8Array(count)),
  );
  const opened = new Map<string, string>();
  for (let n = 0; n < runs; n++) {
    now = Math.floor(until - spanMs + (spanMs * n) / runs);
    const isKeyless = n % 20 === 0;
    const fn = isKeyless ? keyless : keyed[n % keyed.length]!;
    const again = !isKeyless && n % releasedEvery === releasedEvery - 1 ? [...opened][0] : undefined;
    const key = isKeyless ? null : (again?.[0] ?? String(n));
    const [eventId, runId] = [ids.next(), ids.next()];
    const data = JSON.stringify({ orderId: key ?? n - (n % 40), total: n % 977, customer: `c-${n % 5_000}` });
    const failed = n % 50 === 0;
    const windowEndsAt = key === null ? null : now + dayMs;
    const result = failed ? '{"name":"Error","message":"no such account"}' : JSON.stringify({ invoice: `in_${n}` });
    yield [
      "events",
      [env, eventId, null, "order/paid", data, now, null, now, now * 1_000, null, null, JSON.stringify([runId])],
    ];
    yield ["decisions", [env, eventId, fn, "started", null, runId, key, windowEndsAt, null, now]];
    const generation = isKeyless ? eventId : (again?.[1] ?? runId);
    const ended = failed ? "failed" : "completed";
    const times = [now, now + 1, now + 20 + (n % 300)];
    yield [
      "runs",
      [
        env,
        runId,
        fn,
        eventId,
        key,
        key ?? eventId,
        generation,
        null,
        null,
        runId,
        ended,
        result,
        ...times,
        windowEndsAt,
      ],
    ];
    const isAsked = n % 4 === 1 && key !== null;
    if (key !== null) {
      opened.clear();
      opened.set(key, runId);
      if (now + dayMs > until && again === undefined) {
        const held = [now, null, now + dayMs, 0, isAsked ? 2 : 1, now, null];
        yield ["claims", [env, `fn:${fn}`, key, runId, 1, runId, "in-flight", null, ...held]];
      }
    }
    if (n % 4 === 2) {
      const isWait = n % 40 === 2;
      const [kind, input] = isWait ? ["wait-for-event", '{"event":"order/packed"}'] : ["run", null];
      const step = ["charge", "charge", 0, kind, "value", result, 1, now + 1, times[2]!, now * 1_000 + 2, "w", input];
      yield ["steps", [env, runId, ...step]];
    }
    if (!isAsked) continue;
    const twice = ids.next();
    yield ["events", [env, twice, null, "order/paid", data, now, null, now, now * 1_000 + 1, null, null, null]];
    yield [
      "decisions",
      [env, twice, fn, "duplicate-key", `key ${key} is taken`, runId, key, now + dayMs, eventId, now],
    ];
  }
}

function* batchesOf(shop: Shop): Generator<ReadonlyMap<Table, readonly Row[]>> {
  let batch = new Map<Table, Row[]>();
  let count = 0;
  for (const [table, row] of rowsOf(shop)) {
    const rows = batch.get(table) ?? [];
    batch.set(table, rows);
    rows.push(row);
    if (++count % batchRows !== 0) continue;
    yield batch;
    batch = new Map();
  }
  yield batch;
}

/** The ends of runs are noted where they end; rows that were written by hand are counted as a migration counts those of older stores. */
function endNotesSql(store: string, migration: string): string {
  const file = join(root, "packages/idem/src/store", store, "migrations", `${migration}.sql`);
  return readFileSync(file, "utf8").slice(readFileSync(file, "utf8").indexOf("insert into end_notes"));
}

/** The file must have its tables, and nobody may have it open. */
export function fillSqlite(path: string, shop: Shop): void {
  const db = new Database(path);
  db.pragma("synchronous = OFF");
  const insert = Object.fromEntries(
    Object.entries(columns).map(([table, names]) => [
      table,
      db.prepare(
        `insert into ${table === "decisions" ? "kept_decisions" : table} (${names}) values (${names
          .split(",")
          .map(() => "?")
          .join(", ")})`,
      ),
    ]),
  ) as Record<Table, Database.Statement>;
  for (const batch of batchesOf(shop)) {
    db.transaction(() => {
      for (const [table, rows] of batch) for (const row of rows) if (!isStarted(table, row)) insert[table].run(...row);
    })();
  }
  db.exec(endNotesSql("sqlite", "0016_end_counts"));
  // As the owner of the file would find them by their keys.
  db.exec(`insert into claim_keys (env, scope, key, n) select env, scope, key, n from claims order by env, scope, key;
    update meta set value = (select coalesce(max(n), 0) from claims) where name = 'claims-indexed'`);
  db.close();
}

export async function fillPostgres(client: pg.Client, schema: string, shop: Shop): Promise<void> {
  const types: Readonly<Record<string, string>> = {
    ...{ ts: "bigint", stamp: "bigint", fence: "bigint", asked: "bigint", lease_until: "bigint" },
    ...{ held: "smallint", attempt: "integer", repeat: "integer" },
  };
  const typeOf = (name: string) => (name.endsWith("_at") ? "bigint" : (types[name] ?? "text"));
  for (const batch of batchesOf(shop)) {
    for (const [table, rows] of batch) {
      const names = columns[table]
        .split(", ")
        .filter((name) => !onlySqlite.includes(name) && !onlySqlite.includes(`${name} of ${table}`));
      const arrays = names.map((name, i) => `$${i + 1}::${typeOf(name)}[]`);
      const values = names.map((_, i) => rows.map((row) => row[i]));
      await client.query(
        `insert into ${schema}.${table} (${names.join(", ")}) select * from unnest(${arrays.join(", ")})`,
        values,
      );
    }
  }
  await client.query(`set search_path = ${schema}`);
  await client.query(endNotesSql("postgres", "0012_end_counts"));
  // As autovacuum leaves tables that grew over days.
  await client.query("vacuum (analyze)");
}

const trigger = { event: "order/paid" };
const config = (id: string, key: string | null) =>
  JSON.stringify({
    id,
    name: id,
    triggers: [trigger],
    retries: 3,
    idempotency:
      key === null ? null : { key, windowMs: dayMs, untilFinished: false, afterFailure: "keep", onMissing: "run" },
    startTimeoutMs: null,
    finishTimeoutMs: null,
  });

/** The functions the app of these runs would have registered; none can be executed here. */
export const functions = [...keyed, keyless].map((fn) => {
  const id = fn.slice("shop-".length);
  return { fn, id, config: config(id, fn === keyless ? null : "event.data.orderId"), crons: [] };
});
