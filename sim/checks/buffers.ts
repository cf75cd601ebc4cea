// Buffers: every event of one is answered for by one flush, in its time, with the newest event or with all of them.
import { type Check, type Decision, type Facts, groupBy, type StoredEvent } from "./facts.ts";

interface Item {
  readonly event: StoredEvent;
  readonly decision: Decision;
}

/** The decisions for the events of one buffer, all in one commit. */
interface Flush {
  readonly key: unknown;
  readonly at: number;
  readonly items: readonly Item[];
}

export const bufferChecks = {
  "a debounce starts its newest event, after its silence"(facts, fail) {
    for (const fn of facts.evidence.functions) {
      const { debounce } = fn;
      if (debounce === undefined) continue;
      const flushes = flushesOf(facts, fn.id, debounce.of);
      checkOrder(fn.id, flushes, fail);
      for (const { key, at, items } of flushes) {
        const superseded = items.filter(({ decision }) => decision.reason?.startsWith("superseded by event "));
        const heads = items.filter((item) => !superseded.includes(item));
        if (heads.length !== 1) {
          fail(`${fn.id} ${key}: ${heads.length} of ${items.length} events were the newest at ${at}`);
          continue;
        }
        const { event, decision } = heads[0]!;
        const first = Math.min(...items.map((item) => item.event.receivedAt));
        const timeoutAt = debounce.timeoutMs === null ? Number.POSITIVE_INFINITY : first + debounce.timeoutMs;
        if (at < Math.min(event.receivedAt + debounce.periodMs, timeoutAt)) {
          fail(`${fn.id} ${key}: event ${event.id} started ${at - event.receivedAt} ms after it was received`);
        }
        for (const each of superseded) {
          if (each.event.ts > event.ts) fail(`${fn.id} ${key}: ${each.event.id} is newer than ${event.id}`);
          if (!each.decision.reason!.startsWith(`superseded by event ${event.id}`)) {
            fail(`event ${each.event.id} × ${fn.id}: ${each.decision.reason}, the newest was ${event.id}`);
          }
          if (each.decision.runId !== decision.runId) {
            fail(`event ${each.event.id} × ${fn.id}: names run ${each.decision.runId}, not ${decision.runId}`);
          }
        }
      }
    }
  },

  "a batch is full or due, and carries each key once"(facts, fail) {
    for (const fn of facts.evidence.functions) {
      const { batch } = fn;
      if (batch === undefined) continue;
      const flushes = flushesOf(facts, fn.id, batch.of);
      checkOrder(fn.id, flushes, fail);
      for (const { key, at, items } of flushes) {
        const runs = new Set(items.flatMap(({ decision }) => (decision.kind === "started" ? decision.runId! : [])));
        // One call may fill several batches in one instant.
        const most = Math.ceil(items.length / batch.maxSize);
        if (runs.size > most) fail(`${fn.id} ${key}: ${items.length} events started ${runs.size} runs at ${at}`);
        if (items.length >= batch.maxSize) continue;
        const first = Math.min(...items.map(({ event }) => event.receivedAt));
        if (at < first + batch.timeoutMs) {
          fail(`${fn.id} ${key}: a batch of ${items.length} was started after ${at - first} ms`);
        }
      }
      for (const run of facts.dump.runs) {
        if (facts.of(run) !== fn || run.rerunOf !== null) continue;
        const carried = facts.carried(run).map(({ event }) => event.id);
        const started = facts.dump.decisions
          .filter(({ kind, runId, fn: of }) => kind === "started" && runId === run.id && of === run.fn)
          .map(({ eventId }) => eventId);
        if (carried.length > batch.maxSize) fail(`run ${run.id}: carries ${carried.length} events`);
        if (carried.toSorted().join() !== started.toSorted().join()) {
          fail(`run ${run.id}: carries ${carried}, decided for it were ${started}`);
        }
      }
    }
  },

  "an invoking step gets the answer of the run that answers for it"(facts, fail) {
    for (const { run, steps } of facts.dump.memos) {
      if (facts.of(run)?.id !== "caller") continue;
      const invoked = steps.find(({ name }) => name === "invoke");
      const events = facts.dump.events.filter(
        ({ sourceRunId, name }) => sourceRunId === run.id && name === "inngest/function.invoked",
      );
      if (events.length > 1) fail(`run ${run.id}: invoked ${events.length} times`);
      if (invoked === undefined) continue;
      const decision = facts.decisionsOf.get(events[0]?.id ?? "")?.[0];
      const child = decision?.runId == null ? undefined : facts.runs.get(decision.runId);
      const isAnswer = child !== undefined && decision!.kind !== "singleton-skipped";
      const { kind, json } = invoked.outcome;
      if (!isAnswer && kind !== "error") fail(`run ${run.id}: got ${json} though ${decision?.reason}`);
      if (!isAnswer) continue;
      // A rerun of the child answers for it, if it was there first.
      const answers = facts.dump.runs.filter((other) => facts.root(other.id) === facts.root(child.id));
      if (!answers.some(({ result }) => result === json)) {
        fail(`run ${run.id}: got ${json}, run ${child.id} returned ${child.result}`);
      }
    }
  },
} satisfies Record<string, Check>;

/** Events of a function that went through its buffer, by what was decided together. */
function flushesOf(facts: Facts, fn: string, keyOf: (data: any) => unknown): Flush[] {
  const slug = `${facts.evidence.app}-${fn}`;
  const { batch } = facts.of({ fn: slug })!;
  const items: Item[] = [];
  for (const decision of facts.dump.decisions) {
    if (decision.fn !== slug || decision.kind === "duplicate-event" || decision.kind === "filtered") continue;
    const event = facts.events.get(decision.eventId)!;
    const isBuffered = batch?.admits?.(JSON.parse(event.data)) ?? true;
    // An event a person decided left the buffer before, as paused.
    if (isBuffered && !facts.byPerson(decision)) items.push({ event, decision });
  }
  return [...groupBy(items, ({ event }) => keyOf(JSON.parse(event.data)))].flatMap(([key, ofKey]) =>
    [...groupBy(ofKey, ({ decision }) => decision.decidedAt)].map(([at, together]) => ({ key, at, items: together })),
  );
}

/** An event in a buffer when it was flushed is in that flush, and not in a later one. */
function checkOrder(fn: string, flushes: readonly Flush[], fail: (detail: string) => void): void {
  for (const [key, ofKey] of groupBy(flushes, (flush) => flush.key)) {
    const inOrder = [...ofKey].sort((a, b) => a.at - b.at);
    inOrder.forEach(({ items }, i) => {
      const before = inOrder[i - 1];
      if (before === undefined) return;
      for (const { event } of items) {
        if (event.receivedAt < before.at) fail(`${fn} ${key}: event ${event.id} was passed over at ${before.at}`);
      }
    });
  }
}
