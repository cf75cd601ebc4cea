// Ticks of schedules. Whoever asks first for an instant decides it; the row of the schedule says up to where everything is decided,
// so neither another node nor a clock that goes back can decide it twice.
import { alsoOf } from "../../model/decision-reasons.ts";
import type { CronRow, Ticked, TickInput } from "../flow.ts";
import type { StaleRegistration } from "../ingest.ts";
import { answerOf, newWriting } from "../writing.ts";
import type { Connection } from "./connection.ts";
import { answerLeasedAgain, ingestInto, staleRegistration, storeEvent } from "./ingest-events.ts";
import { lockAhead } from "./lock-ahead.ts";
import { inEnv, type Transaction } from "./transaction.ts";

const tickSql = "update crons set last_tick_at = ? where env = ? and fn = ? and cron = ? and last_tick_at < ?";
const selectReasonSql = "select reason from decisions where env = ? and event_id = ? and fn = ?";
const writeReasonSql = "update decisions set reason = ? where env = ? and event_id = ? and fn = ?";
const cronsSql = 'select fn, cron, last_tick_at as "lastTickAt" from crons where env = ? order by fn, cron';
const cronsOfSql = "select cron from crons where env = ? and fn = ?";
const insertCronSql = "insert into crons (env, fn, cron, last_tick_at) values (?, ?, ?, ?) on conflict do nothing";
const deleteCronSql = "delete from crons where env = ? and fn = ? and cron = ?";

export async function tickCrons(tx: Transaction, input: TickInput): Promise<Ticked | StaleRegistration> {
  const { env } = input;
  const out = newWriting();
  const stale = await staleRegistration(tx, env, input.registration);
  if (stale !== null) {
    // Whatever was registered since: what this very call began before its answer was lost must be told, or nobody would execute it.
    for (const { event, pair } of input.ticks) await answerLeasedAgain(tx, env, event.id, [pair], input.leaseTo, out);
    return out.leased.length === 0 ? stale : { ...answerOf(out, tx.at.now), kind: "ticked", fired: [] };
  }
  await lockAhead(
    tx,
    input.ticks.map(({ event, pair }) => ({ env, events: [event], pairs: [pair] })),
  );
  const fired: number[] = [];
  for (const [i, { fn, cron, tickAt, event, pair, speaksFor }] of input.ticks.entries()) {
    // A process whose clock is ahead of this one asks too early.
    if (tickAt > tx.at.now) continue;
    if ((await tx.connection.run(tickSql, tickAt, env, fn, cron, tickAt)) === 0) {
      // Perhaps by this very call, whose answer was lost.
      await answerLeasedAgain(tx, env, event.id, [pair], input.leaseTo, out);
      continue;
    }
    // Another schedule of the function has the same instant: its event is this one's.
    if (!(await storeEvent(tx, env, event))) {
      if (speaksFor !== null) await keepSummary(tx, env, event.id, fn, cron, speaksFor);
      continue;
    }
    tx.ahead.events.set(inEnv(env, event.id), true);
    await ingestInto(tx, env, [event], [pair], input.leaseTo, out);
    fired.push(i);
  }
  return { ...answerOf(out, tx.at.now), kind: "ticked", fired };
}

async function keepSummary(
  tx: Transaction,
  env: string,
  eventId: string,
  fn: string,
  cron: string,
  speaksFor: string,
): Promise<void> {
  const row = await tx.connection.one<{ reason: string | null }>(selectReasonSql, env, eventId, fn);
  if (row !== undefined) tx.connection.write(writeReasonSql, alsoOf(row.reason, cron, speaksFor), env, eventId, fn);
}

export const cronsIn = (connection: Connection, env: string): Promise<CronRow[]> =>
  connection.all<CronRow>(cronsSql, env);

/** A schedule that is new here begins now. */
export async function keepCrons(tx: Transaction, env: string, fn: string, crons: readonly string[]): Promise<void> {
  for (const { cron } of await tx.connection.all<{ cron: string }>(cronsOfSql, env, fn)) {
    if (!crons.includes(cron)) tx.connection.write(deleteCronSql, env, fn, cron);
  }
  for (const cron of crons) tx.connection.write(insertCronSql, env, fn, cron, tx.at.now);
}
