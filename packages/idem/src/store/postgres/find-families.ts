// An event, its decisions and all its runs are a family, and go together. Which of them may go is asked for many at once, and each
// question is put only for those that are still left: a page of events takes six statements, however many go.
import { eventIdScopes, functionScope } from "../../model/claim.ts";
import { type DecisionKind, isPending } from "../../model/decision.ts";
import { isOpen } from "../../model/window.ts";
import type { Connection } from "./connection.ts";
import { indexable } from "./text.ts";

export interface OldEvent {
  readonly id: string;
  readonly callerId: string | null;
  readonly receivedAt: number;
}

interface FamilyRun {
  readonly id: string;
  readonly rootId: string;
  readonly fn: string;
  readonly key: string | null;
  readonly endedAt: number | null;
  readonly carried: number | null;
}

interface ClaimId {
  readonly scope: string;
  readonly key: string;
}

export interface Family {
  readonly event: OldEvent;
  readonly runs: readonly FamilyRun[];
  readonly decisionCount: number;
  /** Claims that the event or its runs hold; their windows are over. */
  readonly claims: readonly ClaimId[];
}

interface DecisionRow {
  readonly eventId: string;
  readonly kind: DecisionKind;
  readonly runId: string | null;
}

interface CarriedRow extends OldEvent {
  readonly runId: string;
  readonly key: string | null;
}

interface Holding extends ClaimId {
  readonly holder: string;
}

const decisionsSql = `
  select event_id as "eventId", kind, run_id as "runId" from decisions where env = ? and event_id = any(?)`;
const runsSql = `
  select id, root_run_id as "rootId", fn, key, ended_at as "endedAt", carried from runs
   where env = :env and id = any(:roots)
  union
  select r.id, r.root_run_id as "rootId", r.fn, r.key, r.ended_at as "endedAt", r.carried
    from unnest(cast(:roots as text[])) as asked (root)
   cross join lateral (select * from runs where env = :env and root_run_id = asked.root and rerun_of is not null offset 0) r`;
const jobsSql = "select id from jobs where env = ? and id = any(?)";
const carriedSql = `
  select b.run_id as "runId", e.id, e.caller_id as "callerId", e.received_at as "receivedAt", b.key
    from run_events b cross join lateral (select * from events where env = b.env and id = b.event_id limit 1) e
   where b.env = ? and b.run_id = any(?)`;
// Looked up one by one, as the planner cannot choose otherwise.
const claimsSql = `
  select probe.scope, probe.key, probe.holder, c.ends_at as "endsAt", c.held
    from unnest(cast(:scopes as text[]), cast(:keys as text[]), cast(:holders as text[])) as probe (scope, key, holder)
   cross join lateral (select ends_at, held from claims
                        where env = :env and scope = probe.scope and key = probe.key and holder = probe.holder
                          and asked > 0 limit 1) c`;

export const claimName = ({ scope, key }: ClaimId): string => JSON.stringify([scope, key]);

/** By event; absent while anything of the event may still be asked for. */
export async function findFamilies(
  connection: Connection,
  env: string,
  events: readonly OldEvent[],
  { before, windowNow }: { readonly before: number; readonly windowNow: number },
): Promise<Map<string, Family>> {
  if (events.length === 0) return new Map();
  const decisions = groupBy(
    await connection.all<DecisionRow>(
      decisionsSql,
      env,
      events.map(({ id }) => id),
    ),
    ({ eventId }) => eventId,
  );
  const decided = events
    .map((event) => ({ event, decisions: decisions.get(event.id) ?? [] }))
    .filter((each) => !each.decisions.some(isPending));
  const runsOf = await runsByRoot(connection, env, [...new Set(decided.flatMap((each) => rootsOf(each.decisions)))]);
  const ended = decided
    .map((each) => ({ ...each, runs: rootsOf(each.decisions).flatMap((root) => runsOf.get(root) ?? []) }))
    .filter(({ runs }) => runs.every(({ endedAt }) => endedAt !== null && endedAt < before));
  // Others are still to hear of the event, or of a run's end.
  const untold = await untoldOf(connection, env, ended);
  const told = ended.filter(
    ({ event, runs }) => !untold.has(deliverOf(event)) && !runs.some((run) => untold.has(announceOf(run))),
  );
  const carriedOf = await carriedByRun(connection, env, told);
  const held = told
    .map((each) => ({ ...each, holdings: holdingsOf(each.event, each.runs, carriedOf) }))
    // A batch goes once all events it carries may go.
    .filter(({ runs }) =>
      runs.every(({ id }) => (carriedOf.get(id) ?? []).every(({ receivedAt }) => receivedAt < before)),
    );
  const windows = await windowsOf(
    connection,
    env,
    held.flatMap(({ holdings }) => holdings),
  );
  return new Map(
    held
      .map(({ event, runs, decisions, holdings }) => ({
        event,
        runs,
        decisionCount: decisions.length,
        claims: holdings.filter((holding) => windows.has(holdingName(holding))),
      }))
      .filter(({ claims }) => !claims.some((claim) => isOpen(windows.get(holdingName(claim))!, windowNow)))
      .map((family) => [family.event.id, family]),
  );
}

const rootsOf = (decisions: readonly DecisionRow[]): string[] =>
  decisions.flatMap(({ kind, runId }) => (kind === "started" && runId !== null ? [runId] : []));

async function runsByRoot(connection: Connection, env: string, roots: readonly string[]) {
  const runs = roots.length === 0 ? [] : await connection.find<FamilyRun>(runsSql, { env, roots });
  const asked = new Set(roots);
  return groupBy(runs, ({ id, rootId }) => (asked.has(rootId) ? rootId : id));
}

const deliverOf = ({ id }: OldEvent): string => `deliver:${id}`;
const announceOf = ({ id }: FamilyRun): string => `announce:${id}`;

async function untoldOf(
  connection: Connection,
  env: string,
  families: readonly Pick<Family, "event" | "runs">[],
): Promise<Set<string>> {
  const ids = families.flatMap(({ event, runs }) => [deliverOf(event), ...runs.map(announceOf)]);
  const rows = ids.length === 0 ? [] : await connection.all<{ id: string }>(jobsSql, env, ids);
  return new Set(rows.map(({ id }) => id));
}

async function carriedByRun(connection: Connection, env: string, families: readonly Pick<Family, "runs">[]) {
  const batches = families.flatMap(({ runs }) => runs.filter(({ carried }) => carried !== null));
  const ids = [...new Set(batches.map(({ id }) => id))];
  const rows = ids.length === 0 ? [] : await connection.all<CarriedRow>(carriedSql, env, ids);
  return groupBy(rows, ({ runId }) => runId);
}

/** What the event, its runs and the events they carry may hold. */
function holdingsOf(
  event: OldEvent,
  runs: readonly FamilyRun[],
  carriedOf: ReadonlyMap<string, readonly CarriedRow[]>,
): Holding[] {
  const holding = (scope: string, key: string | null, holder: string): Holding[] =>
    key === null ? [] : [{ scope, key: indexable(key), holder }];
  const idHoldings = ({ callerId, id }: Pick<OldEvent, "callerId" | "id">): Holding[] =>
    eventIdScopes.flatMap((scope) => holding(scope, callerId, id));
  return [
    ...idHoldings(event),
    ...runs.flatMap((run) => [
      ...holding(functionScope(run.fn), run.key, run.id),
      ...(carriedOf.get(run.id) ?? []).flatMap((each) => [
        ...idHoldings(each),
        ...holding(functionScope(run.fn), each.key, run.id),
      ]),
    ]),
  ];
}

const holdingName = ({ scope, key, holder }: Holding): string => JSON.stringify([scope, key, holder]);

async function windowsOf(connection: Connection, env: string, holdings: readonly Holding[]) {
  const asked = [...new Map(holdings.map((holding) => [holdingName(holding), holding])).values()];
  const rows =
    asked.length === 0
      ? []
      : await connection.find<Holding & { endsAt: number; held: number }>(claimsSql, {
          env,
          scopes: asked.map(({ scope }) => scope),
          keys: asked.map(({ key }) => key),
          holders: asked.map(({ holder }) => holder),
        });
  return new Map(rows.map((row) => [holdingName(row), { endsAt: row.endsAt, held: row.held === 1 }]));
}

function groupBy<Row>(rows: readonly Row[], name: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const group = groups.get(name(row));
    if (group === undefined) groups.set(name(row), [row]);
    else group.push(row);
  }
  return groups;
}
