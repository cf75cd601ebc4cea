// An app tells the store its functions. The registration number grows exactly when something changed, so that a sender
// whose picture is old can be told to look again.
import type { RegisterAnswer, RegisterInput } from "../functions.ts";
import type { Connection } from "./connection.ts";
import { keepCrons } from "./tick-crons.ts";
import type { Transaction } from "./transaction.ts";

const selectRegistrationSql = "select value from meta where name = 'registration:' || ?";
const writeRegistrationSql = `
  insert into meta (name, value) values ('registration:' || ?, ?)
  on conflict (name) do update set value = excluded.value`;
const selectFunctionSql = "select app, config, archived_at from functions where env = ? and fn = ?";
const writeFunctionSql = `
  insert into functions (env, fn, app, id, config) values (?, ?, ?, ?, ?)
  on conflict (env, fn) do update set app = excluded.app, id = excluded.id, config = excluded.config, archived_at = null`;
const selectFunctionsOfAppSql = "select fn from functions where env = ? and app = ? and archived_at is null";
const archiveFunctionSql = "update functions set archived_at = ? where env = ? and fn = ?";

export function registrationOf(connection: Connection, env: string): number {
  return Number(connection.one<{ value: string }>(selectRegistrationSql, env)?.value ?? 0);
}

export function registerFunctions(tx: Transaction, { env, app, functions }: RegisterInput): RegisterAnswer {
  const { connection } = tx;
  const known = new Map<string, { app: string; config: string; archived_at: number | null } | undefined>();
  for (const { fn } of functions) {
    const row = connection.one<{ app: string; config: string; archived_at: number | null }>(selectFunctionSql, env, fn);
    if (row !== undefined && row.app !== app && row.archived_at === null) return { kind: "taken", fn, app: row.app };
    known.set(fn, row);
  }
  let changed = false;
  for (const { fn, id, config, crons } of functions) {
    const row = known.get(fn);
    // Also without a change: rows of a file from before schedules were kept are made here.
    keepCrons(tx, env, fn, crons);
    if (row !== undefined && row.config === config && row.archived_at === null) continue;
    connection.run(writeFunctionSql, env, fn, app, id, config);
    changed = true;
  }
  for (const { fn } of connection.all<{ fn: string }>(selectFunctionsOfAppSql, env, app)) {
    if (known.has(fn)) continue;
    connection.run(archiveFunctionSql, tx.at.now, env, fn);
    keepCrons(tx, env, fn, []);
    changed = true;
  }
  const registration = changed ? nextRegistration(tx, env) : tx.known.registration(env);
  return { kind: "registered", registration, changed };
}

/** From this commit on, whoever decides by an older picture is told to look again. */
export function nextRegistration(tx: Transaction, env: string): number {
  const registration = tx.known.registration(env) + 1;
  tx.connection.run(writeRegistrationSql, env, String(registration));
  tx.known.noteRegistration(env, registration);
  return registration;
}
