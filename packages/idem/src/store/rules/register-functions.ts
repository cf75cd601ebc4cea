// An app tells the store its functions; a person pauses one, or lets it go on. The registration number grows exactly when something
// changed, so that a sender whose picture is old can be told to look again.
import type { PauseAnswer, PauseInput, RegisterAnswer, RegisterInput } from "../functions.ts";
import type { StaleRegistration } from "../ingest.ts";
import type { Database, RuleTransaction } from "./database.ts";
import type { Rule } from "./rule.ts";

const selectRegistrationSql = "select value from meta where name = 'registration:' || cast(? as text)";
const writeRegistrationSql = `
  insert into meta (name, value) values ('registration:' || cast(? as text), ?)
  on conflict (name) do update set value = excluded.value`;
const selectFunctionSql = "select app, config, archived_at from functions where env = ? and fn = ?";
const writeFunctionSql = `
  insert into functions (env, fn, app, id, config) values (?, ?, ?, ?, ?)
  on conflict (env, fn) do update set app = excluded.app, id = excluded.id, config = excluded.config, archived_at = null`;
const selectFunctionsOfAppSql = "select fn from functions where env = ? and app = ? and archived_at is null";
const archiveFunctionSql = "update functions set archived_at = ? where env = ? and fn = ?";
const selectPausedSql = "select paused_at from functions where env = ? and fn = ? and archived_at is null";
const writePausedSql = "update functions set paused_at = ? where env = ? and fn = ?";
const cronsOfSql = "select cron from crons where env = ? and fn = ?";
const insertCronSql = "insert into crons (env, fn, cron, last_tick_at) values (?, ?, ?, ?) on conflict do nothing";
const deleteCronSql = "delete from crons where env = ? and fn = ? and cron = ?";

export function* registrationOf(db: Database, env: string): Rule<number> {
  return Number((yield* db.one<{ value: string }>(selectRegistrationSql, env))?.value ?? 0);
}

/** Nothing may be stored that was decided by an older picture of the functions. */
export const staleness = (decidedBy: number | null, registration: number): StaleRegistration | null =>
  decidedBy === null || decidedBy === registration ? null : { kind: "stale-registration", registration };

export const registrationTurn = (env: string): string => `registration:${env}`;

interface FunctionRow {
  readonly app: string;
  readonly config: string;
  readonly archived_at: number | null;
}

export function* registerFunctions(tx: RuleTransaction, { env, app, functions }: RegisterInput): Rule<RegisterAnswer> {
  yield* tx.turn(registrationTurn(env));
  const known = new Map<string, FunctionRow | undefined>();
  for (const { fn } of functions) {
    const row = yield* tx.one<FunctionRow>(selectFunctionSql, env, fn);
    if (row !== undefined && row.app !== app && row.archived_at === null) return { kind: "taken", fn, app: row.app };
    known.set(fn, row);
  }
  let changed = false;
  for (const { fn, id, config, crons } of functions) {
    const row = known.get(fn);
    // Also without a change: rows of a store from before schedules were kept are made here.
    yield* keepCrons(tx, env, fn, crons);
    if (row !== undefined && row.config === config && row.archived_at === null) continue;
    tx.write(writeFunctionSql, env, fn, app, id, config);
    changed = true;
  }
  for (const { fn } of yield* tx.all<{ fn: string }>(selectFunctionsOfAppSql, env, app)) {
    if (known.has(fn)) continue;
    tx.write(archiveFunctionSql, tx.at.now, env, fn);
    yield* keepCrons(tx, env, fn, []);
    changed = true;
  }
  const registration = yield* changed ? nextRegistration(tx, env) : tx.registration(env);
  return { kind: "registered", registration, changed };
}

/** A schedule that is new here begins now. */
function* keepCrons(tx: RuleTransaction, env: string, fn: string, crons: readonly string[]): Rule<void> {
  for (const { cron } of yield* tx.all<{ cron: string }>(cronsOfSql, env, fn)) {
    if (!crons.includes(cron)) tx.write(deleteCronSql, env, fn, cron);
  }
  for (const cron of crons) tx.write(insertCronSql, env, fn, cron, tx.at.now);
}

/** From this commit on, a sender that decided by an older picture is told to look again. */
export function* nextRegistration(tx: RuleTransaction, env: string): Rule<number> {
  const registration = (yield* tx.registration(env)) + 1;
  tx.write(writeRegistrationSql, env, String(registration));
  tx.noteRegistration(env, registration);
  return registration;
}

/** Paused, a function starts no runs: its events are decided as `paused` and kept. No process may decide by an older picture. */
export function* pauseFunction(tx: RuleTransaction, input: PauseInput): Rule<PauseAnswer> {
  const { env, fn, paused, reason, actor } = input;
  yield* tx.turn(registrationTurn(env));
  const row = yield* tx.one<{ paused_at: number | null }>(selectPausedSql, env, fn);
  if (row === undefined) return { kind: "unknown" };
  const pausedAt = paused ? (row.paused_at ?? tx.at.now) : null;
  const changed = pausedAt !== row.paused_at;
  if (!changed) return { kind: "set", registration: yield* tx.registration(env), pausedAt, changed };
  tx.write(writePausedSql, pausedAt, env, fn);
  tx.audit(env, { action: paused ? "pause-function" : "resume-function", subject: fn, reason, actor });
  return { kind: "set", registration: yield* nextRegistration(tx, env), pausedAt, changed };
}
