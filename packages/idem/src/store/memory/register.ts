// Replacing the functions of one app. A function that is no longer listed is archived: its runs and its pause stay.
// Repeat: the same functions again change nothing.
import type { RegisterAnswer, RegisterInput } from "../functions.ts";
import { cronId, type Moment, type Tables } from "./tables.ts";

export function register(tables: Tables, at: Moment, input: RegisterInput): RegisterAnswer {
  const listed = new Map(input.functions.map((given) => [given.fn, given]));
  for (const fn of listed.keys()) {
    const row = tables.functions.get(fn);
    if (row !== undefined && row.app !== input.app && !row.archived) return { kind: "taken", fn, app: row.app };
  }
  keepCrons(tables, at, input);
  let changed = false;
  for (const { fn, id, config } of listed.values()) {
    const row = tables.functions.get(fn);
    if (row !== undefined && row.id === id && row.config === config && !row.archived) continue;
    tables.functions.put(fn, { fn, app: input.app, id, config, pausedAt: row?.pausedAt ?? null, archived: false });
    changed = true;
  }
  for (const row of tables.functions.all()) {
    if (row.app !== input.app || row.archived || listed.has(row.fn)) continue;
    tables.functions.put(row.fn, { ...row, archived: true });
    changed = true;
  }
  if (changed) tables.meta.put("registration", tables.registration + 1);
  return { kind: "registered", registration: tables.registration, changed };
}

/** A schedule that is new begins now: nothing before counts as missed. One that is no longer named is forgotten. */
function keepCrons(tables: Tables, at: Moment, { app, functions }: RegisterInput): void {
  const named = new Map(functions.flatMap(({ fn, crons }) => crons.map((cron) => [cronId(fn, cron), { fn, cron }])));
  const given = new Set(functions.map(({ fn }) => fn));
  for (const [id, { fn }] of tables.crons.entries()) {
    if ((given.has(fn) || tables.functions.get(fn)?.app === app) && !named.has(id)) tables.crons.delete(id);
  }
  for (const [id, row] of named) if (!tables.crons.has(id)) tables.crons.put(id, { ...row, lastTickAt: at.now });
}
