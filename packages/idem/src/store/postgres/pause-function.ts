// A person pauses a function, or lets it go on. Paused, it starts no runs: its events are decided as `paused` and kept.
// The registration grows with it, so that no process decides by an older picture.
import type { PauseAnswer, PauseInput } from "../functions.ts";
import { lockName, registrationLock } from "./lock-name.ts";
import { nextRegistration, registrationOf } from "./register-functions.ts";
import type { Transaction } from "./transaction.ts";
import { writeAudit } from "./write-audit.ts";

const selectPausedSql = "select paused_at from functions where env = ? and fn = ? and archived_at is null";
const writePausedSql = "update functions set paused_at = ? where env = ? and fn = ?";

export async function pauseFunction(
  tx: Transaction,
  { env, fn, paused, reason, actor }: PauseInput,
): Promise<PauseAnswer> {
  await lockName(tx, registrationLock(env));
  const row = await tx.connection.one<{ paused_at: number | null }>(selectPausedSql, env, fn);
  if (row === undefined) return { kind: "unknown" };
  const pausedAt = paused ? (row.paused_at ?? tx.at.now) : null;
  const changed = pausedAt !== row.paused_at;
  if (!changed) return { kind: "set", registration: await registrationOf(tx.connection, env), pausedAt, changed };
  await tx.connection.run(writePausedSql, pausedAt, env, fn);
  await writeAudit(tx, env, { action: paused ? "pause-function" : "resume-function", subject: fn, reason, actor });
  return { kind: "set", registration: await nextRegistration(tx, env), pausedAt, changed };
}
