// The situations of a world, for the "sometimes" counters: moments for which limits, buffers and schedules need their proofs.
import { type Decision, type Evidence, Facts, type Run } from "./checks/facts.ts";
import { detectedEvent } from "./checks/radar.ts";
import { loneBlocks } from "./checks/runs.ts";

// So much later than it could have begun a run was kept by something.
const keptMs = 100;

const leaseTermMs = 20_000;

export function situationsOf(evidence: Evidence): Readonly<Record<string, number>> {
  const facts = new Facts(evidence);
  const counts: Record<string, number> = {};
  const add = (name: string) => {
    counts[name] = (counts[name] ?? 0) + 1;
  };
  for (const run of facts.dump.runs) for (const name of ofRun(facts, run)) add(name);
  for (const decision of facts.dump.decisions) for (const name of ofDecision(facts, decision)) add(name);
  for (const { run, isLost } of facts.ledger.leases) {
    if (isLost && facts.of(facts.runs.get(run) ?? { fn: "" })?.slots !== undefined) add("slots lost with their worker");
  }
  for (const { process, from, to } of loneBlocks(facts)) {
    const isHolding = facts.ledger.leases.some(
      (lease) => lease.process === process && lease.from <= from && (lease.to ?? to) > from,
    );
    if (to - from > leaseTermMs && isHolding) add("runs held by a blocked loop past a lease");
  }
  for (const run of facts.dump.runs) {
    if (facts.of(run)?.slots?.some(({ isOfSteps }) => isOfSteps) !== true) continue;
    const entries = facts.ledger.entries.filter((entry) => entry.run === run.id);
    entries.forEach(({ at, process }, i) => {
      const isBeside = entries.slice(0, i).some((other) => other.process === process && (other.left?.at ?? at) > at);
      if (isBeside) add("steps beside others in slots of their own");
    });
  }
  for (const { name, firstEventId } of facts.dump.events) {
    if (name === detectedEvent)
      add(firstEventId === null ? "duplicates the radar told of" : "duplicates told of before");
  }
  for (const fn of evidence.functions) {
    if (fn.crons === undefined) continue;
    const ticks = facts.dump.events.filter(
      ({ id, name }) =>
        name === "inngest/scheduled.timer" && facts.decisionsOf.get(id)?.some((decision) => facts.of(decision) === fn),
    );
    ticks.forEach(({ id }, i) => {
      const before = ticks[i - 1];
      if (before !== undefined && facts.ledger.storedBy.get(before.id) !== facts.ledger.storedBy.get(id)) {
        add("ticks by another process than before");
      }
    });
  }
  return counts;
}

function* ofRun(facts: Facts, run: Run): Generator<string> {
  const fn = facts.of(run);
  if (fn === undefined) return;
  if (run.state === "parked") yield "runs parked after their entries";
  if (fn.entriesMax !== undefined && run.state === "failed") yield "runs failed after their entries";
  const waitedMs = (run.startedAt ?? run.endedAt ?? 0) - run.createdAt;
  if (fn.slots !== undefined && waitedMs > keptMs) yield "runs that stood in line";
  if (fn.slots !== undefined && run.rerunOf !== null && waitedMs > keptMs) yield "reruns that stood in line";
  if (fn.throttle !== undefined && fn.slots === undefined && waitedMs > keptMs) yield "starts put off by a throttle";
  if (facts.neverBegan(run)) yield "runs cancelled in line";
  if (/a newer one of the singleton/.test(run.result ?? "")) yield "runs cancelled for a newer one";
  if (/cancelled by event/.test(run.result ?? "")) yield "runs cancelled by an event";
  if (fn.batch === undefined || run.rerunOf !== null || run.key !== null) return;
  const last = facts.carried(run).at(-1);
  if (last !== undefined)
    yield last.event.receivedAt === run.createdAt ? "batches that were full" : "batches that were due";
}

function* ofDecision(facts: Facts, decision: Decision): Generator<string> {
  const { eventId, kind, reason, decidedAt, runId } = decision;
  const fn = facts.of(decision);
  const event = facts.events.get(eventId);
  if (fn === undefined || event === undefined) return;
  const isTick = event.name === "inngest/scheduled.timer";
  if (facts.byPerson(decision)) {
    yield kind === "dropped" ? "events dropped by a person" : "events released by a person";
    if (isTick) yield "ticks released by a person";
    if (fn.debounce !== undefined || fn.batch !== undefined) yield "buffered events that a pause kept";
    return;
  }
  if (isTick && kind === "missed") yield /earlier tick/.test(reason ?? "") ? "missed ticks summed up" : "missed ticks";
  if (isTick && /^started .* late/.test(reason ?? "")) yield "missed ticks started";
  const isBuffered = (fn.debounce !== undefined || fn.batch !== undefined) && decidedAt > event.receivedAt;
  if (!isBuffered) return;
  if (kind === "debounced") yield "events superseded";
  if (kind === "duplicate-key")
    yield /in this batch/.test(reason ?? "") ? "keys repeated in a batch" : "keys taken at a flush";
  if (kind === "rate-limited") yield "flushes refused by a rate limit";
  if (facts.isInvoked(eventId)) yield runId === null ? "invokes refused by a flush" : "invokes answered by a flush";
  if (kind !== "started") return;
  const flushers = facts.ledger.leasedAt.get(decidedAt);
  const keeper = facts.ledger.storedBy.get(eventId);
  if (flushers === undefined || keeper === undefined || flushers.has(keeper)) return;
  yield "buffers flushed by another process";
  const { to } = facts.moment(decidedAt);
  if (facts.ledger.lostProcesses.some(({ process, at }) => process === keeper && at <= to)) {
    yield "buffers flushed for a dead process";
  }
}
