// An app tells the store its functions. The registration number grows exactly when something changed, so that a sender
// whose picture is old can be told to look again.
import type { RegisterAnswer, RegisterInput } from "../functions.ts";
import type { Connection } from "./connection.ts";
import { lockName, registrationLock } from "./lock-name.ts";
import { keepCrons } from "./tick-crons.ts";
import type { Transaction } from "./transaction.ts";

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

export async function registrationOf(connection: Connection, env: string): Promise<number> {
  return Number((await connection.one<{ value: string }>(selectRegistrationSql, env))?.value ?? 0);
}

export async function registerFunctions(
  tx: Transaction,
  { env, app, functions }: RegisterInput,
): Promise<RegisterAnswer> {
  await lockName(tx, registrationLock(env));
  const { connection } = tx;
  const known = new Map<string, { app: string; config: string; archived_at: number | null } | undefined>();
  for (const { fn } of functions) {
    const row = await connection.one<{ app: string; config: string; archived_at: number | null }>(
      selectFunctionSql,
      env,
      fn,
    );
    if (row !== undefined && row.app !== app && row.archived_at === null) return { kind: "taken", fn, app: row.app };
    known.set(fn, row);
  }
  let changed = false;
  for (const { fn, id, config, crons } of functions) {
    const row = known.get(fn);
    // Also without a change: rows of a file from before schedules were kept are made here.
    await keepCrons(tx, env, fn, crons);
    if (row !== undefined && row.config === config && row.archived_at === null) continue;
    await connection.run(writeFunctionSql, env, fn, app, id, config);
    changed = true;
  }
  for (const { fn } of await connection.all<{ fn: string }>(selectFunctionsOfAppSql, env, app)) {
    if (known.has(fn)) continue;
    await connection.run(archiveFunctionSql, tx.at.now, env, fn);
    await keepCrons(tx, env, fn, []);
    changed = true;
  }
  const registration = changed ? await nextRegistration(tx, env) : await registrationOf(tx.connection, env);
  return { kind: "registered", registration, changed };
}

/** From this commit on, whoever decides by an older picture is told to look again. */
export async function nextRegistration(tx: Transaction, env: string): Promise<number> {
  const registration = (await registrationOf(tx.connection, env)) + 1;
  await tx.connection.run(writeRegistrationSql, env, String(registration));
  return registration;
}
