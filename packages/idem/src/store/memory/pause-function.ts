// Pausing a function, or letting it start runs again. Repeat: the first pause's instant stands.
import type { PauseAnswer, PauseInput } from "../functions.ts";
import type { Moment, Tables } from "./tables.ts";

export function pauseFunction(tables: Tables, at: Moment, { fn, paused, reason, actor }: PauseInput): PauseAnswer {
  const row = tables.functions.get(fn);
  if (row === undefined || row.archived) return { kind: "unknown" };
  const pausedAt = paused ? (row.pausedAt ?? at.now) : null;
  const changed = pausedAt !== row.pausedAt;
  if (changed) {
    tables.functions.put(fn, { ...row, pausedAt });
    tables.addAudit(at, { action: paused ? "pause-function" : "resume-function", subject: fn, reason, actor });
    tables.meta.put("registration", tables.registration + 1);
  }
  return { kind: "set", registration: tables.registration, pausedAt, changed };
}
