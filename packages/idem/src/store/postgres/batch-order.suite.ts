// The order in which the batches of the hot path commit calls that are submitted at once, so that the same calls can be made one at a time.
//
// The store under test has one session. Calls of one kind that are submitted in one turn of the event loop form one batch; calls that the batch leaves
// undone follow it as transactions of their own, in the order in which they were submitted. So the order is defined everywhere; this table says
// where it matters, and what it is. Two calls that no line names commute: they write rows of different runs, and only stamps tell their order.
//
//   batch        calls that do not commute                       order within the batch
//   saves        outcomes of one run: their stamps                as submitted
//                outcomes of one step                             the first is saved, the batch leaves the others
//                lines of one run near the bound of its log       saved by the batch, then left
//   ends         ends of one run                                  the first ends it, the batch leaves the others
//                a run and one that waits for it                  runs that nobody waits for; runs that are awaited, as one
//                                                                 statement, so that the waiting run has ended first; left
//                runs that one run waits for: stamps of outcomes  as their waits began; where two waiting runs began theirs in
//                                                                 opposite orders, no order explains the batch: a call is left out
//                an end whose event a run waits for that ends too left, after all ends of the batch
//   suspensions  waits of one run                                 the first begins, the batch leaves the others
//                a slot that one gives back and another takes     given back by the batch, then left
//   invokes      children of one key                              by job id: the first whose key is free opens the child, the batch
//                                                                 leaves the others, which wait for that child
//                two of one run                                   the first as submitted, the batch leaves the other
//                one whose event has its sender's id              no batch takes it: it is submitted alone
//   resumes      events for one wait; calls for one delivery      as submitted
//   ingests      events of one id, key, limit, buffer or lane     as submitted
//   reads        none                                             any
//   single       all                                              one after another, in both stores
import type { AdvanceInput } from "../advance.ts";
import type { AdvancePatch, Call, GroupKind, StoreRows } from "./random-calls.suite.ts";
import { compareTexts } from "./text.ts";

/** What decides which calls a batch takes. */
export interface OrderInput {
  readonly kind: GroupKind;
  readonly calls: readonly Call[];
  readonly rows: StoreRows;
  readonly now: number;
  readonly registration: number;
  /** The stamp up to which the caller has seen its run's outcomes, in the store that the rows are of. */
  readonly seenOf: (call: Call) => number;
}

/** The calls in the order in which the batch commits them. Calls that no order explains are left out. */
export function orderCalls(input: OrderInput): readonly Call[] {
  switch (input.kind) {
    case "saves":
      return takenFirst(input.calls, isSaved(input));
    case "suspensions":
      return takenFirst(input.calls, isSuspended(input));
    case "ends":
      return orderEnds(input);
    case "invokes":
      return orderInvokes(input);
    default:
      return input.calls;
  }
}

const patchOf = (call: Call): AdvancePatch => (call as Extract<Call, { name: "advance" }>).input;

const jobOf = (rows: StoreRows, { jobId, fence, worker }: AdvancePatch) =>
  rows.jobs.find((job) => job.id === jobId && job.fence === fence && job.leased_by === worker);

const isCurrent = (registration: number | null | undefined, current: number): boolean =>
  registration == null || registration === current;

function takenFirst(calls: readonly Call[], isTaken: (call: Call) => boolean): readonly Call[] {
  const taken = calls.filter(isTaken);
  return [...taken, ...without(calls, taken)];
}

const without = (calls: readonly Call[], taken: readonly Call[]): readonly Call[] =>
  calls.filter((call) => !taken.includes(call));

/** Answers true for the first of equal names. */
function firstOf(): (name: string) => boolean {
  const names = new Set<string>();
  return (name) => !names.has(name) && names.add(name) !== undefined;
}

// ------------------------------------------------------------------------------------------------ saves

function isSaved({ rows }: OrderInput): (call: Call) => boolean {
  const isFirst = firstOf();
  return (call) => {
    const patch = patchOf(call);
    const { stepId } = patch.steps[0]!;
    if (!isFirst(JSON.stringify([patch.runId, stepId]))) return false;
    const isNew = !rows.steps.some(({ run_id, step_id }) => run_id === patch.runId && step_id === stepId);
    return isNew && jobOf(rows, patch)?.lost_workers === 0;
  };
}

// ------------------------------------------------------------------------------------------------ suspensions

function isSuspended({ rows, now, seenOf }: OrderInput): (call: Call) => boolean {
  const isFirst = firstOf();
  return (call) => {
    const patch = patchOf(call);
    if (!isFirst(patch.jobId)) return false;
    const { timeoutAt } = patch.waits[0]!;
    const isOver = timeoutAt !== null && timeoutAt <= now;
    const isLeft = isOver && patch.beside !== undefined;
    return !isLeft && jobOf(rows, patch)?.lost_workers === 0 && isQuiet(rows, patch, now, seenOf(call));
  };
}

// ------------------------------------------------------------------------------------------------ ends

function orderEnds(input: OrderInput): readonly Call[] {
  const { calls, rows, registration } = input;
  const isFirst = firstOf();
  const awaitedNames = new Set([...rows.waits, ...rows.cancels].map(({ event_name }) => event_name));
  const isTaken = (call: Call): boolean => {
    const patch = patchOf(call);
    const { ingest, runId } = patch;
    if (!isFirst(patch.jobId) || jobOf(rows, patch) === undefined) return false;
    const run = rows.runs.find(({ id }) => id === runId)!;
    const isFree = run.ended_state === null && run.holds_key === 0 && run.singleton === null;
    const isQuiet = ingest === null || ingest.events.every(({ name }) => !awaitedNames.has(name));
    return isFree && isQuiet && isCurrent(ingest?.registration, registration);
  };
  const isAwaited = (call: Call) => rows.runs.find(({ id }) => id === patchOf(call).runId)!.awaited === 1;
  const taken = calls.filter(isTaken);
  const plain = taken.filter((call) => !isAwaited(call));
  const awaited = taken.filter(isAwaited);
  const ordered = orderAwaited(rows, plain, awaited);
  if (ordered !== null) return [...plain, ...ordered, ...without(calls, taken)];
  return orderEnds({ ...input, calls: without(calls, [awaited.at(-1)!]) });
}

/** Null where no order explains the batch. */
function orderAwaited(rows: StoreRows, plain: readonly Call[], awaited: readonly Call[]): readonly Call[] | null {
  const callOf = new Map(awaited.map((call) => [patchOf(call).runId, call]));
  const isEnding = new Set([...plain, ...awaited].map((call) => patchOf(call).runId));
  const after = new Map<Call, Set<Call>>(awaited.map((call) => [call, new Set()]));
  const childrenOf = new Map<string, Call[]>();
  for (const { run_id, child_run_id } of rows.waits.toSorted((a, b) => a.stamp - b.stamp)) {
    const child = child_run_id === null ? undefined : callOf.get(child_run_id);
    if (child === undefined) continue;
    const parent = callOf.get(run_id);
    // A run may wait for itself, where it holds the key that it invokes.
    if (parent !== undefined && parent !== child) after.get(child)!.add(parent);
    if (isEnding.has(run_id)) continue;
    const children = childrenOf.get(run_id) ?? [];
    childrenOf.set(run_id, children);
    for (const earlier of children) if (earlier !== child) after.get(child)!.add(earlier);
    children.push(child);
  }
  const ordered: Call[] = [];
  while (ordered.length < awaited.length) {
    const next = awaited.find(
      (call) => !ordered.includes(call) && [...after.get(call)!].every((each) => ordered.includes(each)),
    );
    if (next === undefined) return null;
    ordered.push(next);
  }
  return ordered;
}

// ------------------------------------------------------------------------------------------------ invokes

function orderInvokes({ calls, rows, now, registration, seenOf }: OrderInput): readonly Call[] {
  const isCurrentCall = (call: Call) => {
    const { ingest, waits } = patchOf(call);
    const { timeoutAt } = waits[0]!;
    return isCurrent(ingest!.registration, registration) && (timeoutAt === null || timeoutAt > now);
  };
  // No batch takes an event with its sender's id. Such a call is made without the others: it would come before the batch, and change what it takes.
  const direct = calls.find((call) => patchOf(call).ingest!.events[0]!.callerId !== null);
  if (direct !== undefined) return [direct];
  const isFirstOfJob = firstOf();
  const isFirstOfKey = firstOf();
  const taken = calls
    .filter((call) => isCurrentCall(call) && isFirstOfJob(patchOf(call).jobId))
    .toSorted((a, b) => compareTexts(patchOf(a).jobId, patchOf(b).jobId))
    .filter((call) => {
      const patch = patchOf(call);
      const pair = patch.ingest!.pairs[0]!;
      if (jobOf(rows, patch)?.lost_workers !== 0 || !isQuiet(rows, patch, now, seenOf(call))) return false;
      const isNewEvent = !rows.events.some(({ id }) => id === patch.ingest!.events[0]!.id);
      if (pair.kind !== "start" || pair.key === null) return isNewEvent;
      const scope = `fn:${pair.fn}`;
      const claim = rows.claims.find((each) => each.scope === scope && each.key === pair.key);
      const isTaken = claim !== undefined && claim.state !== "released" && (claim.held === 1 || now < claim.ends_at);
      return !isTaken && isNewEvent && isFirstOfKey(pair.key);
    });
  return [...taken, ...without(calls, taken)];
}

/** Nothing has happened to the run that its worker does not know of. */
function isQuiet(rows: StoreRows, { runId, waits }: Pick<AdvanceInput, "runId" | "waits">, now: number, seen: number) {
  const { stepId } = waits[0]!;
  const steps = rows.steps.filter(({ run_id }) => run_id === runId);
  const own = rows.waits.filter(({ run_id }) => run_id === runId);
  return (
    !steps.some(({ step_id, worker, stamp }) => step_id === stepId || (worker === null && stamp > seen)) &&
    !own.some(({ step_id, timeout_at }) => step_id === stepId || (timeout_at !== null && timeout_at <= now))
  );
}
