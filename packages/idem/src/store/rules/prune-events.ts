// History a person no longer wants. An event goes together with its decisions and all its runs, reruns included, and only once nothing can ask
// for any of them: every run ended, every window closed, nothing held for a person. A page of events is judged at once and goes with a
// statement for each table (docs/decisions/0050).
import { type PruneAnswer, type PruneInput, pageSizeOf, prunedNothing, rowsOf } from "../prune.ts";
import { countAlerts, pruneAlerts } from "./alerts.ts";
import type { Database, RuleTransaction } from "./database.ts";
import { findFamilies, type Judging } from "./find-families.ts";
import { countPortions, deletePortions, type Portion, portionsOf } from "./prune-portions.ts";
import type { OldEvent, PruneRows } from "./prune-rows.ts";
import { countAudit, pruneAudit } from "./read-audit.ts";
import type { Asked, Rule } from "./rule.ts";

export interface Pruning {
  /** The portions that still go now that nobody else can touch them. Where one writer is at work that is all of them. */
  readonly secure: (portions: readonly Portion[], judging: Judging) => Asked<readonly Portion[]>;
  readonly rows: PruneRows;
  readonly windowNow: number;
}

export function* pruneEvents(db: Database, input: PruneInput, pruning: Pruning): Rule<PruneAnswer> {
  const { env, before, max } = input;
  const { rows, windowNow } = pruning;
  const answer = { deleted: prunedNothing, kept: 0, clearTo: input.after, reachedAt: null, othersUntil: null };
  if (input.after === "") {
    const told = yield* pruneAlerts(db, env, before, max);
    if (told.alerts + told.pairs > 0) return { ...answer, deleted: { ...prunedNothing, ...told }, after: "" };
  }
  const judging = { before, windowNow, indexed: (key: string) => db.indexed(key) };
  const page = yield* readPage(rows, input, pageSizeOf(max));
  const families = yield* findFamilies(rows, page.old, judging);
  const portions = yield* portionsOf(rows, page.old, families, max);
  const going = yield* pruning.secure(portions, judging);
  const deleted = yield* deletePortions(rows, going);
  // The family's own rows go in one piece; when they do not fit, the next commit begins with them. One that somebody else has locked
  // is passed by: to begin with it again could go on for as long as they do.
  const last = portions.at(-1);
  const isCut = last !== undefined && !last.isWhole;
  const isBegun = isCut && going.at(-1) === last;
  const place = isCut ? page.events.indexOf(last.family.event) : page.events.length;
  const passed = page.events.slice(0, isCut && !isBegun ? place + 1 : place);
  const gone = new Set(going.filter(({ isWhole }) => isWhole).map(({ family }) => family.event));
  const stays = passed.findIndex((event) => !gone.has(event));
  const old = passed.filter(({ receivedAt }) => receivedAt < before);
  const reached = passed.at(-1)?.id ?? input.after;
  const judged = {
    ...answer,
    deleted,
    kept: old.length - gone.size,
    clearTo: (stays === -1 ? passed.at(-1) : passed[stays - 1])?.id ?? input.after,
    reachedAt: old.at(-1)?.receivedAt ?? null,
  };
  if (isCut || !page.isLast) return { ...judged, after: reached };
  if (input.auditBefore === undefined) return { ...judged, after: null };
  // Last, with what room is left: where there is none, or more than it takes, the next commit goes on with it.
  const left = Math.max(0, max - rowsOf(deleted));
  const audit = yield* pruneAudit(db, env, input.auditBefore, left);
  return { ...judged, deleted: { ...deleted, audit }, after: audit === left ? reached : null };
}

/** Counts what pruning would delete, page by page; writes nothing. */
export function* countPrunable(
  db: Database,
  input: Omit<PruneInput, "max" | "turn">,
  pruning: Omit<Pruning, "secure">,
): Rule<PruneAnswer> {
  const { env, before } = input;
  const max = Number.POSITIVE_INFINITY;
  const { rows, windowNow } = pruning;
  const page = yield* readPage(rows, input, pageSizeOf(max));
  const judging = { before, windowNow, indexed: (key: string) => db.indexed(key) };
  const portions = yield* portionsOf(rows, page.old, yield* findFamilies(rows, page.old, judging), max);
  const told = input.after === "" ? yield* countAlerts(db, env, before) : {};
  const isCounted = page.isLast && input.auditBefore !== undefined;
  const audit = isCounted ? yield* countAudit(db, env, input.auditBefore!) : 0;
  return {
    deleted: { ...countPortions(portions), ...told, audit },
    kept: page.old.length - portions.length,
    after: page.isLast ? null : page.events.at(-1)!.id,
    clearTo: input.after,
    reachedAt: page.old.at(-1)?.receivedAt ?? null,
    othersUntil: null,
  };
}

function* readPage(
  rows: PruneRows,
  { before, after }: Pick<PruneInput, "before" | "after">,
  size: number,
): Rule<{ readonly events: OldEvent[]; readonly old: OldEvent[]; readonly isLast: boolean }> {
  const events = yield* rows.page(after, size);
  const old = events.filter(({ receivedAt }) => receivedAt < before);
  // Ids follow time closely, not exactly: a whole page without an old event is the end of the old ones.
  return { events, old, isLast: events.length < size || old.length === 0 };
}

const findTurnSql = "select value from meta where name = 'prune:' || cast(? as text)";
const keepTurnSql = `
  insert into meta (name, value) values ('prune:' || cast(? as text), ?) on conflict (name) do update set value = excluded.value`;

interface Turn {
  readonly by: string;
  readonly until: number;
}

/** Until when it is somebody else's turn; null when it is the asker's, which lasts. Nobody waits for it. */
export function* othersTurn(tx: RuleTransaction, { env, turn }: PruneInput): Rule<number | null> {
  if (turn === undefined) return null;
  const { now, leaseNow } = tx.at;
  const read = function* (): Rule<Turn | null> {
    const row = yield* tx.one<{ value: string }>(findTurnSql, env);
    return row === undefined ? null : (JSON.parse(row.value) as Turn);
  };
  const othersUntil = (held: Turn | null): number | null =>
    held !== null && held.by !== turn.by && held.until > leaseNow ? held.until : null;
  const held = yield* read();
  if (othersUntil(held) !== null) return othersUntil(held);
  if (held?.by === turn.by && held.until - now > turn.ms / 2) return null;
  // Two may have found it free.
  yield* tx.turn(`prune:${env}`);
  const others = othersUntil(yield* read());
  if (others !== null) return others;
  tx.write(keepTurnSql, env, JSON.stringify({ by: turn.by, until: now + turn.ms }));
  return null;
}

export const othersTurnAnswer = ({ after }: PruneInput, othersUntil: number): PruneAnswer => ({
  deleted: prunedNothing,
  kept: 0,
  after,
  clearTo: after,
  reachedAt: null,
  othersUntil,
});
