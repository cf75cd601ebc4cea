// An event, its decisions and all its runs are a family, and go together. Which of them may go is asked for many at once, and each
// question is put only for those that are still left: a page of events takes a handful of statements, however many go.
import { eventIdScopes, functionScope } from "../../model/claim.ts";
import { isPending } from "../../model/decision.ts";
import { isOpen } from "../../model/window.ts";
import type { CarriedEvent, FamilyDecision, FamilyRun, Holding, OldEvent, PruneRows } from "./prune-rows.ts";
import type { Rule } from "./rule.ts";

type ClaimId = Pick<Holding, "scope" | "key">;

export interface Family {
  readonly event: OldEvent;
  readonly runs: readonly FamilyRun[];
  readonly decisionCount: number;
  /** Claims that the event or its runs hold; their windows are over. */
  readonly claims: readonly ClaimId[];
}

export interface Judging {
  readonly before: number;
  readonly windowNow: number;
  /** The text as it stands in a column that is found by it. */
  readonly indexed: (key: string) => string;
}

interface Candidate {
  readonly event: OldEvent;
  readonly decisions: readonly FamilyDecision[];
  readonly runs: FamilyRun[];
  holdings: readonly Holding[];
}

const nobody: readonly never[] = [];

export const claimName = ({ scope, key }: ClaimId): string => JSON.stringify([scope, key]);

/** By event; absent while anything of the event may still be asked for. */
export function* findFamilies(
  rows: PruneRows,
  events: readonly OldEvent[],
  judging: Judging,
): Rule<Map<string, Family>> {
  if (events.length === 0) return new Map();
  const { before, windowNow } = judging;
  const decisions = groupBy(yield* rows.decisions(events), ({ eventId }) => eventId);
  const decided: Candidate[] = [];
  const roots = new Set<string>();
  for (const event of events) {
    const own = decisions.get(event.id) ?? nobody;
    if (own.some(isPending)) continue;
    decided.push({ event, decisions: own, runs: [], holdings: nobody });
    for (const decision of own) if (isStart(decision)) roots.add(decision.runId!);
  }
  const runs = roots.size === 0 ? [] : yield* rows.runs([...roots]);
  const runsOf = groupBy(runs, ({ id, rootId }) => (roots.has(rootId) ? rootId : id));
  const ended = decided.filter(({ decisions, runs }) => {
    for (const decision of decisions) if (isStart(decision)) runs.push(...(runsOf.get(decision.runId!) ?? nobody));
    return runs.every(({ endedAt }) => endedAt !== null && endedAt < before);
  });
  if (ended.length === 0) return new Map();
  // Others are still to hear of the event, or of a run's end.
  const untold = new Set(
    (yield* rows.jobs(
      ended.map(({ event }) => event),
      ended.flatMap(idsOf),
    )).map(({ id }) => id),
  );
  const isTold = ({ event, runs }: Candidate) =>
    !untold.has(`deliver:${event.id}`) && !runs.some(({ id }) => untold.has(`announce:${id}`));
  const told = untold.size === 0 ? ended : ended.filter(isTold);
  const batchIds = told.flatMap((each) => each.runs.filter(({ carried }) => carried !== null).map(({ id }) => id));
  const carriedOf = groupBy(
    batchIds.length === 0 ? [] : yield* rows.carried([...new Set(batchIds)]),
    ({ runId }) => runId,
  );
  const asked = new Map<string, Holding>();
  for (const each of told) {
    each.holdings = holdingsOf(each, carriedOf, judging);
    for (const holding of each.holdings) asked.set(holdingName(holding), holding);
  }
  const found = asked.size === 0 ? [] : yield* rows.windows([...asked.values()]);
  const windows = new Map(found.map((each) => [holdingName(each), each]));
  const families = new Map<string, Family>();
  for (const { event, runs, decisions, holdings } of told) {
    // A batch goes once all events it carries may go.
    const isYoung = (run: FamilyRun) =>
      run.carried !== null && (carriedOf.get(run.id) ?? nobody).some(({ receivedAt }) => receivedAt >= before);
    if (runs.some(isYoung)) continue;
    const claims = holdings.filter((holding) => windows.has(holdingName(holding)));
    if (claims.some((claim) => isOpen(windows.get(holdingName(claim))!, windowNow))) continue;
    families.set(event.id, { event, runs, decisionCount: decisions.length, claims });
  }
  return families;
}

const isStart = ({ kind, runId }: FamilyDecision): boolean => kind === "started" && runId !== null;

const idsOf = ({ runs }: Candidate): string[] => runs.map(({ id }) => id);

/** Claims that the event, its runs and the events they carry may hold. */
function holdingsOf(
  { event, runs, decisions }: Candidate,
  carriedOf: ReadonlyMap<string, readonly CarriedEvent[]>,
  { indexed, windowNow }: Judging,
): readonly Holding[] {
  const holdings: Holding[] = [];
  const hold = (scope: string, key: string | null, holder: string) => {
    if (key !== null) holdings.push({ scope, key: indexed(key), holder });
  };
  const holdId = ({ callerId, id }: OldEvent) => {
    if (callerId !== null) for (const scope of eventIdScopes) hold(scope, callerId, id);
  };
  holdId(event);
  for (const run of runs) {
    // A window's end is fixed when it opens, for the run and its reruns: where it is over, and not held open, no claim need be asked.
    const isOver = ({ runId, windowEndsAt }: FamilyDecision) =>
      runId === run.rootId && windowEndsAt !== null && windowEndsAt <= windowNow;
    if (run.holdsKey === 1 || !decisions.some(isOver)) hold(functionScope(run.fn), run.key, run.id);
    for (const each of carriedOf.get(run.id) ?? nobody) {
      holdId(each);
      hold(functionScope(run.fn), each.key, run.id);
    }
  }
  return holdings;
}

const holdingName = ({ scope, key, holder }: Holding): string =>
  `${scope.length},${key.length},${scope}${key}${holder}`;

function groupBy<Row>(rows: readonly Row[], name: (row: Row) => string): Map<string, Row[]> {
  const groups = new Map<string, Row[]>();
  for (const row of rows) {
    const at = name(row);
    const group = groups.get(at);
    if (group === undefined) groups.set(at, [row]);
    else group.push(row);
  }
  return groups;
}
