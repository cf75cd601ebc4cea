// rules/history-reads.ts as calls over a connection.
import {
  allRows,
  eventsAfter as eventsAfterRule,
  functionsWithRuns as functionsRule,
  newest,
  openedRuns as openedRule,
  type Place,
  receivedEvents as receivedRule,
  suppressedEvents as suppressedRule,
} from "../rules/history-reads.ts";
import { driveAwaited } from "../rules/rule.ts";
import type { Connection } from "./connection.ts";
import { over, RuleDatabase } from "./rule-database.ts";

export const functionsWithRuns = over(functionsRule);
export const eventsAfter = over(eventsAfterRule);

export function openedRuns(connection: Connection, env: string, fn: string, since: number) {
  const db = new RuleDatabase(connection);
  return allRows(driveAwaited, newest.id, (before: string) => openedRule(db, env, fn, since, before));
}

export function receivedEvents(connection: Connection, env: string, since: number) {
  const db = new RuleDatabase(connection);
  return allRows(driveAwaited, newest.id, (before: string) => receivedRule(db, env, since, before));
}

export function suppressedEvents(connection: Connection, env: string, since: number) {
  const db = new RuleDatabase(connection);
  return allRows(driveAwaited, newest.place, (before: Place) => suppressedRule(db, env, since, before));
}
