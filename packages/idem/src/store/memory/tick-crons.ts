// Ticks of schedules. An instant is decided once: the row's last instant is compared and set in the commit that stores its event.
import { alsoOf } from "../../model/decision.ts";
import type { Ticked, TickInput } from "../flow.ts";
import type { StaleRegistration } from "../ingest.ts";
import { Effects } from "./effects.ts";
import { answerFor, findBornLeased, staleRegistration, storeEvent } from "./ingest.ts";
import { recordDecision } from "./record-decision.ts";
import { cronId, type Moment, type Tables } from "./tables.ts";

export function tickCrons(tables: Tables, at: Moment, input: TickInput): Ticked | StaleRegistration {
  const effects = new Effects();
  const stale = staleRegistration(tables, input);
  if (stale !== null) {
    // Whatever was registered since: jobs that this very call began before its answer was lost are answered, or nobody would execute them.
    for (const { event, pair } of input.ticks) findBornLeased(tables, effects, event.id, [pair], input.leaseTo);
    return effects.jobs.size === 0 ? stale : { ...answerFor(tables, at, effects, []), kind: "ticked", fired: [] };
  }
  const fired: number[] = [];
  input.ticks.forEach(({ fn, cron, tickAt, event, pair, speaksFor }, position) => {
    const row = tables.crons.get(cronId(fn, cron));
    // A process whose clock is ahead of this one asks too early.
    if (row === undefined || tickAt > at.now) return;
    if (row.lastTickAt >= tickAt) {
      // Perhaps by this very call, whose answer was lost.
      findBornLeased(tables, effects, event.id, [pair], input.leaseTo);
      return;
    }
    tables.crons.put(cronId(fn, cron), { ...row, lastTickAt: tickAt });
    // Another schedule of the function had its tick at the same instant.
    if (tables.events.has(event.id)) {
      const decided = tables.decision(event.id, fn);
      if (speaksFor !== null && decided !== undefined) {
        recordDecision(tables, at, effects, { ...decided, reason: alsoOf(decided.reason, cron, speaksFor) });
      }
      return;
    }
    storeEvent(tables, at, effects, event, [pair], input.leaseTo);
    fired.push(position);
  });
  const eventIds = fired.map((position) => input.ticks[position]!.event.id);
  return { ...answerFor(tables, at, effects, eventIds), kind: "ticked", fired };
}
