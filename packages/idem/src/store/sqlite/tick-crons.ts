// Ticks of schedules. Whoever asks first for an instant decides it; the row of the schedule says up to where everything is decided,
// so neither another node nor a clock that goes back can decide it twice.
import { alsoOf } from "../../model/decision-reasons.ts";
import type { CronRow, Ticked, TickInput } from "../flow.ts";
import type { StaleRegistration } from "../ingest.ts";
import { answerOf, newWriting } from "../writing.ts";
import type { Connection } from "./connection.ts";
import { answerLeasedAgain, ingestInto, staleRegistration } from "./ingest-events.ts";
import { findEvent } from "./read-memo.ts";
import type { Transaction } from "./transaction.ts";

const tickSql = "update crons set last_tick_at = ? where env = ? and fn = ? and cron = ? and last_tick_at < ?";
const selectReasonSql = "select reason from decisions where env = ? and event_id = ? and fn = ?";
const writeReasonSql = "update decisions set reason = ? where env = ? and event_id = ? and fn = ?";
const cronsSql = "select fn, cron, last_tick_at as lastTickAt from crons where env = ? order by fn, cron";
const cronsOfSql = "select cron from crons where env = ? and fn = ?";
const insertCronSql = "insert into crons (env, fn, cron, last_tick_at) values (?, ?, ?, ?) on conflict do nothing";
const deleteCronSql = "delete from crons where env = ? and fn = ? and cron = ?";

export function tickCrons(tx: Transaction, input: TickInput): Ticked | StaleRegistration {
  const { env } = input;
  const out = newWriting();
  const stale = staleRegistration(tx, env, input.registration);
  if (stale !== null) {
    // Whatever was registered since: what this very call began before its answer was lost must be told, or nobody would execute it.
    for (const { event, pair } of input.ticks) answerLeasedAgain(tx, env, event.id, [pair], input.leaseTo, out);
    return out.leased.length === 0 ? stale : { ...answerOf(out, tx.at.now), kind: "ticked", fired: [] };
  }
  const fired: number[] = [];
  input.ticks.forEach(({ fn, cron, tickAt, event, pair, speaksFor }, i) => {
    // A process whose clock is ahead of this one asks too early.
    if (tickAt > tx.at.now) return;
    if (tx.connection.run(tickSql, tickAt, env, fn, cron, tickAt) === 0) {
      // Perhaps by this very call, whose answer was lost.
      answerLeasedAgain(tx, env, event.id, [pair], input.leaseTo, out);
      return;
    }
    // Another schedule of the function has the same instant: its event is this one's.
    if (findEvent(tx.connection, env, event.id) !== undefined) {
      if (speaksFor !== null) keepSummary(tx, env, event.id, fn, cron, speaksFor);
      return;
    }
    ingestInto(tx, env, [event], [pair], input.leaseTo, out);
    fired.push(i);
  });
  return { ...answerOf(out, tx.at.now), kind: "ticked", fired };
}

function keepSummary(tx: Transaction, env: string, eventId: string, fn: string, cron: string, speaksFor: string): void {
  const row = tx.connection.one<{ reason: string | null }>(selectReasonSql, env, eventId, fn);
  if (row !== undefined) tx.connection.run(writeReasonSql, alsoOf(row.reason, cron, speaksFor), env, eventId, fn);
}

export const cronsIn = (connection: Connection, env: string): CronRow[] => connection.all<CronRow>(cronsSql, env);

/** A schedule that is new here begins now. */
export function keepCrons(tx: Transaction, env: string, fn: string, crons: readonly string[]): void {
  for (const { cron } of tx.connection.all<{ cron: string }>(cronsOfSql, env, fn)) {
    if (!crons.includes(cron)) tx.connection.run(deleteCronSql, env, fn, cron);
  }
  for (const cron of crons) tx.connection.run(insertCronSql, env, fn, cron, tx.at.now);
}
