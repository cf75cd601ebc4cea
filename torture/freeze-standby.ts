// A standby that every commit waits for stops answering, and those who wait for it are sent away, in each way there is: their commits are
// seen by all, and are on one machine. Every answer given until then must be on the standby's disk, which may have to take over.
import { setTimeout as delay } from "node:timers/promises";
import pg from "pg";
import type { LocalPostgres, LocalStandby } from "../scripts/local-postgres.mjs";
import { readLedger } from "./read-ledger.ts";

export const sendings = ["terminate", "cancel", "restart"] as const;
/** Ways to send away those who wait. */
export type Sending = (typeof sendings)[number];

export interface FreezeStandbyOptions {
  readonly server: LocalPostgres;
  readonly standby: LocalStandby;
  /** Of the ledger. */
  readonly folder: string;
  readonly schema: string;
  readonly violated: (check: string, detail: string) => void;
}

// Anything that has not come by then does not come at all.
const patienceMs = 10_000;
/** For an answer that should not come. */
const tellingMs = 500;

export const standbyCheck = "what was answered is on the standby that waits to take over";

/** Resolves once it answers again, with how many commits were sent away. */
export async function freezeStandby(options: FreezeStandbyOptions, ways: readonly Sending[]): Promise<number> {
  const { server, standby, violated } = options;
  let sent = 0;
  standby.freeze();
  try {
    for (const way of ways) {
      const pids = await untilWaiting(server.url);
      sent += pids.length;
      if (pids.length === 0) violated("every fault is carried out", `nobody waited for the standby to ${way} it`);
      if (way === "restart") {
        await server.crash();
        await server.start();
      } else await ask(server.url, `select pg_${way}_backend(pid) from unnest($1::int[]) pid`, [pids]);
      await delay(tellingMs);
    }
    const missing = await missingFromStandby(options);
    if (missing.length > 0) {
      violated(
        standbyCheck,
        `${missing.length} are not there after ${ways.join(", ")}: ${missing.slice(0, 5).join("; ")}`,
      );
    }
  } finally {
    standby.thaw();
  }
  return sent;
}

async function untilWaiting(url: string): Promise<number[]> {
  const untilMs = performance.now() + patienceMs;
  for (;;) {
    const rows = await ask<{ pid: number }>(
      url,
      "select pid from pg_stat_activity where application_name like 'idem %' and wait_event = 'SyncRep'",
    );
    if (rows.length > 0 || performance.now() > untilMs) return rows.map(({ pid }) => pid);
    await delay(20);
  }
}

/** Acknowledged events, ends that clients saw and values that code was given: those in the ledger and not on the standby. */
async function missingFromStandby({ standby, folder, schema }: FreezeStandbyOptions): Promise<string[]> {
  const promoted = await standby.promotedCopy();
  try {
    // Read last: whatever was told while it was frozen has to be there too.
    const { acked, ackedOthers, ends, steps } = readLedger(folder);
    // Nobody was told anything yet; there may be no tables either.
    if ([...acked, ...ackedOthers, ...ends, ...steps].length === 0) return [];
    const has = async (sql: string) => new Set((await ask<{ id: string }>(promoted.url, sql)).map(({ id }) => id));
    const events = await has(`select id from ${schema}.events`);
    const ended = await has(`select id from ${schema}.runs where ended_state is not null`);
    const recorded = await has(`select distinct run_id || ' ' || name as id from ${schema}.steps`);
    return [
      ...[...acked, ...ackedOthers]
        .filter(({ eventId }) => !events.has(eventId))
        .map(({ eventId }) => `event ${eventId}`),
      ...[...ends.keys()].filter((run) => !ended.has(run)).map((run) => `the end of run ${run}`),
      ...[...steps]
        .filter(([id, { returnedAt }]) => returnedAt !== null && !recorded.has(id))
        .map(([id]) => `step ${id}`),
    ];
  } finally {
    await promoted.remove();
  }
}

async function ask<Row extends object>(url: string, sql: string, params: unknown[] = []): Promise<Row[]> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  try {
    return (await client.query<Row>(sql, params)).rows;
  } finally {
    await client.end();
  }
}
