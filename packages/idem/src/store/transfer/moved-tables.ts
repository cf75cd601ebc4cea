// The tables that move from a SQLite store into a PostgreSQL one: all facts, column by column as they are to stand there. Columns that the
// file does not have are derived: slots from lanes, awaited runs from the waits. Leases do not move: their holders are gone, and a fence one
// higher lets nobody's old lease count. Workers, messages of the last hour and the file's own bookkeeping (epoch, owner, claim_keys) stay behind.
import { slotColumns } from "../postgres/lane-slots.ts";

export type Cell = string | number | null;
export type Row = readonly Cell[];

export interface MovedColumn {
  readonly name: string;
  readonly type: "text" | "bigint" | "double precision";
  /** The source of its value in the file: a column or an expression. */
  readonly from: string;
  /** From the file's value to the one that moves, where SQL cannot say it. */
  readonly read?: (cell: Cell) => Cell;
}

export interface MovedTable {
  readonly name: string;
  readonly columns: readonly MovedColumn[];
  /** Which of its rows are facts, in the words of both databases; null for all. */
  readonly where: string | null;
}

type Given = MovedColumn["type"] | Omit<MovedColumn, "name">;

const text = "text";
const integer = "bigint";
const real = "double precision";

const slot = (position: 0 | 1): Given => ({
  type: text,
  from: "lane",
  read: (lane) => slotColumns(lane as string | null)[position],
});

function moved(name: string, given: Readonly<Record<string, Given>>, where: string | null = null): MovedTable {
  const columns = Object.entries(given).map(([column, spec]) => ({
    name: column,
    ...(typeof spec === "string" ? { type: spec, from: column } : spec),
  }));
  return { name, columns, where };
}

/** In the order they are copied; `meta` is the last, and with it the clock and the numbers of registrations. */
export const movedTables: readonly MovedTable[] = [
  moved("functions", {
    env: text,
    fn: text,
    app: text,
    id: text,
    config: text,
    paused_at: integer,
    archived_at: integer,
  }),
  moved("events", {
    env: text,
    id: text,
    caller_id: text,
    name: text,
    data: text,
    ts: integer,
    extra: text,
    received_at: integer,
    stamp: integer,
    first_event_id: text,
    source_run_id: text,
  }),
  moved("event_values", { env: text, event_id: text, path: text, name: text, word: text, value: text }),
  moved("decisions", {
    env: text,
    event_id: text,
    fn: text,
    kind: text,
    reason: text,
    run_id: text,
    key: text,
    window_ends_at: integer,
    first_event_id: text,
    decided_at: integer,
  }),
  moved("claims", {
    env: text,
    scope: text,
    key: text,
    holder: text,
    fence: integer,
    generation: text,
    state: text,
    fingerprint: text,
    taken_at: integer,
    lease_until: integer,
    ends_at: integer,
    held: integer,
    // None asked for would be a row that only keeps others waiting there.
    asked: { type: integer, from: "max(asked, 1)" },
    last_asked_at: integer,
    outcome: text,
  }),
  moved("runs", {
    env: text,
    id: text,
    fn: text,
    event_id: text,
    key: text,
    subject: text,
    generation: text,
    previous_run_id: text,
    rerun_of: text,
    root_run_id: text,
    newest_run_id: text,
    ended_state: text,
    result: text,
    created_at: integer,
    started_at: integer,
    ended_at: integer,
    ended_fence: integer,
    holds_key: integer,
    rerun_from: text,
    inputs: text,
    singleton: text,
    carried: integer,
    code: text,
    log_bytes: integer,
    awaited: {
      type: integer,
      from: "ended_state is null and exists (select 1 from waits w where w.env = runs.env and w.child_run_id = runs.id)",
    },
  }),
  moved("steps", {
    env: text,
    run_id: text,
    step_id: text,
    name: text,
    repeat: integer,
    kind: text,
    outcome: text,
    json: text,
    attempt: integer,
    started_at: integer,
    ended_at: integer,
    stamp: integer,
    worker: text,
    input: text,
    child_run_id: text,
  }),
  moved("attempts", {
    env: text,
    run_id: text,
    step_id: text,
    attempt: integer,
    name: text,
    error: text,
    started_at: integer,
    ended_at: integer,
    retry_at: integer,
    stamp: integer,
    worker: text,
    input: text,
  }),
  moved("run_logs", { env: text, run_id: text, part: text, lines: text }),
  moved("jobs", {
    env: text,
    id: text,
    kind: text,
    run_id: text,
    event_id: text,
    fn: text,
    rank: integer,
    due_at: integer,
    fence: { type: integer, from: "fence + (leased_by is not null)" },
    leased_by: { type: text, from: "null" },
    lost_workers: integer,
    had_waits: integer,
    lane: text,
    slot_1: slot(0),
    slot_2: slot(1),
    beside_1: { type: integer, from: "0" },
    beside_2: { type: integer, from: "0" },
    beside_turn: { type: integer, from: "0" },
    start_by: integer,
    born_leased: integer,
    parked_at: integer,
    parked_kind: text,
    parked_reason: text,
    enter_at: integer,
    lost_by: text,
    lost_at: integer,
  }),
  moved("waits", {
    env: text,
    run_id: text,
    step_id: text,
    kind: text,
    step_kind: text,
    name: text,
    repeat: integer,
    timeout_at: integer,
    on_timeout: text,
    on_timeout_json: text,
    event_name: text,
    path: text,
    value: text,
    rest: text,
    signal: text,
    child_run_id: text,
    stamp: integer,
    started_at: integer,
    input: text,
  }),
  moved("cancels", {
    env: text,
    run_id: text,
    n: integer,
    event_name: text,
    path: text,
    value: text,
    rest: text,
    ends_at: integer,
    stamp: integer,
  }),
  moved("crons", { env: text, fn: text, cron: text, last_tick_at: integer }),
  moved("throttles", { env: text, id: text, tat: real }),
  // One process gave each start a stamp of its own; where many do, the run tells two of one stamp apart.
  moved("rate_starts", { env: text, id: text, stamp: integer, run_id: { type: text, from: "''" }, at: integer }),
  moved("buffers", {
    env: text,
    fn: text,
    kind: text,
    key: text,
    id: text,
    deadline: integer,
    due_at: integer,
    count: integer,
    bytes: integer,
    event_id: text,
    ts: integer,
    pair: text,
  }),
  moved("buffer_items", { env: text, buffer_id: text, n: integer, event_id: text, pair: text }),
  moved("run_events", { env: text, run_id: text, n: integer, event_id: text, key: text }),
  moved("settings", { env: text, kind: text, name: text, value: text, version: integer, changed_at: integer }),
  moved("metadata", { env: text, run_id: text, step_id: text, kind: text, value: text, changed_at: integer }),
  moved("hour_counts", { env: text, hour: integer, fn: text, started: integer, suppressed: integer }),
  moved("end_notes", {
    env: text,
    fn: text,
    at: integer,
    completed: integer,
    failed: integer,
    cancelled: integer,
    oldest: integer,
    took: text,
  }),
  moved("end_counts", {
    env: text,
    step: integer,
    at: integer,
    fn: text,
    completed: integer,
    failed: integer,
    cancelled: integer,
    oldest: integer,
    sketch: text,
  }),
  moved("hour_cursors", { env: text, event_id: text, fn: text }),
  moved("slips", { env: text, run_id: text, generation: text, fn: text, at: integer, after_failure: integer }),
  moved("alerts", {
    env: text,
    id: text,
    kind: text,
    fn: text,
    about: text,
    subject: text,
    state: text,
    first_at: integer,
    last_at: integer,
    pair_count: integer,
    facts: text,
    judged_by: text,
    judged_at: integer,
    note: text,
    muted_until: integer,
  }),
  moved("alert_pairs", {
    env: text,
    alert_id: text,
    later_id: text,
    entity: text,
    first_id: text,
    at: integer,
  }),
  moved("radar_positions", { env: text, position: text, version: integer, moved_at: integer }),
  moved("audit", {
    env: text,
    id: { type: text, from: "cast(id as text)" },
    at: integer,
    action: text,
    subject: text,
    reason: text,
    actor: text,
  }),
  moved(
    "meta",
    {
      name: text,
      // Later than every instant used in the file, so that no stamp is given out twice.
      value: {
        type: text,
        from: "case name when 'clock' then cast(cast(value as integer) + 1 as text) else value end",
      },
    },
    "name in ('clock', 'clock-steps') or substr(name, 1, 13) = 'registration:'",
  ),
];
