// Ticks of schedules. The first call for an instant decides it; the row of the schedule says up to where everything is decided,
// so neither another node nor a clock that goes back can decide it twice.
import { alsoOf } from "../../model/decision.ts";
import type { CronRow, Ticked, TickInput } from "../flow.ts";
import type { StaleRegistration } from "../ingest.ts";
import { answerOf, newWriting } from "../writing.ts";
import type { Database, RuleTransaction } from "./database.ts";
import { answerLeasedAgain, ingestInto } from "./ingest-events.ts";
import type { Asked, Rule } from "./rule.ts";

const tickSql = "update crons set last_tick_at = ? where env = ? and fn = ? and cron = ? and last_tick_at < ?";
const selectReasonSql = "select reason from decisions where env = ? and event_id = ? and fn = ?";
const cronsSql = 'select fn, cron, last_tick_at as "lastTickAt" from crons where env = ? order by fn, cron';

export function* tickCrons(tx: RuleTransaction, input: TickInput): Rule<Ticked | StaleRegistration> {
  const { env } = input;
  const out = newWriting();
  const stale = yield* tx.staleRegistration(env, input.registration);
  if (stale !== null) {
    // Whatever was registered since: jobs that this very call began before its answer was lost are answered, or nobody would execute them.
    for (const { event, pair } of input.ticks) yield* answerLeasedAgain(tx, env, event.id, [pair], input.leaseTo, out);
    return out.leased.length === 0 ? stale : { ...answerOf(out, tx.at.now), kind: "ticked", fired: [] };
  }
  yield* tx.lockAhead(
    input.ticks.map(({ event, pair }) => ({ env, events: [event], pairs: [pair] })),
    null,
  );
  const fired: number[] = [];
  for (const [i, { fn, cron, tickAt, event, pair, speaksFor }] of input.ticks.entries()) {
    // A process whose clock is ahead of this one asks too early.
    if (tickAt > tx.at.now) continue;
    if ((yield* tx.run(tickSql, tickAt, env, fn, cron, tickAt)) === 0) {
      // Perhaps by this very call, whose answer was lost.
      yield* answerLeasedAgain(tx, env, event.id, [pair], input.leaseTo, out);
      continue;
    }
    // Another schedule of the function has the same instant: its event is this one's.
    if (!(yield* tx.isNewEvent(env, event))) {
      if (speaksFor !== null) yield* keepSummary(tx, env, { eventId: event.id, fn, cron, speaksFor });
      continue;
    }
    yield* ingestInto(tx, env, [event], [pair], input.leaseTo, out);
    fired.push(i);
  }
  return { ...answerOf(out, tx.at.now), kind: "ticked", fired };
}

function* keepSummary(
  tx: RuleTransaction,
  env: string,
  { eventId, fn, cron, speaksFor }: Readonly<Record<"eventId" | "fn" | "cron" | "speaksFor", string>>,
): Rule<void> {
  const row = yield* tx.one<{ reason: string | null }>(selectReasonSql, env, eventId, fn);
  if (row !== undefined) tx.write(tx.sql.decisions.reason, alsoOf(row.reason, cron, speaksFor), env, eventId, fn);
}

export const cronsIn = (db: Database, env: string): Asked<CronRow[]> => db.all<CronRow>(cronsSql, env);
