// Events: kept, whole, once, and each decided about.
import type { Data, FunctionFacts } from "../workloads/workload.ts";
import { type Check, groupBy, isPending } from "./facts.ts";

export const eventChecks = {
  "acknowledged events are kept unchanged"({ ledger, events: kept, decisionsOf, evidence }, fail) {
    for (const { call, events, acknowledged } of ledger.sends) {
      if (acknowledged === null) continue;
      if (acknowledged.ids.length !== events.length) fail(`call ${call}: ${acknowledged.ids.length} ids`);
      acknowledged.ids.forEach((id, i) => {
        const stored = kept.get(id);
        const sent = events[i]!;
        if (stored === undefined) fail(`call ${call}: event ${id} is gone`);
        else if (stored.data !== sent.data || stored.name !== sent.name || stored.callerId !== sent.id) {
          fail(`call ${call}: event ${id} holds ${stored.data}, sent was ${sent.data}`);
        }
      });
      for (const decision of acknowledged.decisions) {
        const found = decisionsOf.get(decision.eventId)?.find(
          // A function that is no longer registered is shown under its full name.
          ({ fn }) => fn === decision.function || fn === `${evidence.app}-${decision.function}`,
        );
        // A pending one may be decided by now.
        const wasPending = decision.runId === null && /^(debounced|batched|paused|held)$/.test(decision.kind);
        if (found === undefined || (!wasPending && (found.kind !== decision.kind || found.runId !== decision.runId))) {
          fail(`call ${call}: told ${JSON.stringify(decision)}, stored is ${JSON.stringify(found)}`);
        }
      }
    }
  },

  "an event is stored by a commit that says so"({ ledger, dump }, fail) {
    for (const { id, name } of dump.events) {
      if (!ledger.stored.has(id))
        fail(`event ${id} ${name}: the call that carried it was refused, or never told of it`);
    }
  },

  "a call is stored whole or not at all"({ dump }, fail) {
    const byCall = new Map<number, { count: number; of: number }>();
    for (const { data, sourceRunId } of dump.events) {
      const { call, of } = JSON.parse(data) as Data;
      if (call === undefined || sourceRunId !== null) continue;
      const seen = byCall.get(call) ?? { count: 0, of };
      seen.count++;
      byCall.set(call, seen);
    }
    for (const [call, { count, of }] of byCall) if (count % of !== 0) fail(`call ${call}: ${count} of ${of} events`);
  },

  "nothing is stored of what was refused as not stored"({ ledger, dump }, fail) {
    const stored = new Set(dump.events.map(({ data }) => data));
    for (const { call, events, isRefused } of ledger.sends) {
      if (isRefused && events.some(({ data }) => stored.has(data))) fail(`call ${call}: refused, and stored`);
    }
  },

  "a call is stored once"({ ledger, dump }, fail) {
    const stored = new Map<string, number>();
    for (const { data } of dump.events) stored.set(data, (stored.get(data) ?? 0) + 1);
    for (const { call, events } of ledger.sends) {
      for (const { data } of events) {
        const count = stored.get(data) ?? 0;
        // Two events of one call may be alike; they count together.
        const alike = events.filter((other) => other.data === data).length;
        if (count > alike) fail(`call ${call}: stored ${count} times`);
      }
    }
  },

  "every event and function has one decision"({ dump, decisionsOf, evidence }, fail) {
    for (const event of dump.events) {
      const data = JSON.parse(event.data) as Data;
      const decisions = decisionsOf.get(event.id) ?? [];
      const decided = groupBy(decisions, ({ fn }) => fn);
      for (const [fn, list] of decided)
        if (list.length > 1) fail(`event ${event.id} × ${fn}: ${list.length} decisions`);
      for (const fn of evidence.functions) {
        if (fn.event !== event.name) continue;
        const decision = decided.get(`${evidence.app}-${fn.id}`)?.[0];
        if (decision === undefined) {
          if (fn.isLate !== true) fail(`event ${event.id} ${event.name} × ${fn.id}: no decision`);
          continue;
        }
        const admitted = fn.admits?.(data) ?? true;
        const isDuplicate = event.firstEventId !== null;
        const right = isDuplicate
          ? decision.kind === "duplicate-event"
          : decision.kind === "filtered"
            ? !admitted || fn.failureHandler === undefined
            : admitted && mayBe(fn, decision.kind);
        if (!right) fail(`event ${event.id} × ${fn.id}: ${decision.kind}`);
      }
    }
  },

  "no decision stays pending"({ dump }, fail) {
    for (const decision of dump.decisions) {
      if (isPending(decision)) fail(`event ${decision.eventId} × ${decision.fn}: still ${decision.kind}`);
    }
  },

  "the store's clock is what it promises to be"({ dump, ledger }, fail) {
    const shown = ledger.storeClockShown;
    for (const { id, receivedAt } of dump.events) {
      if (!shown.has(receivedAt)) fail(`event ${id}: received at ${receivedAt}, which never was`);
    }
    for (const { id, createdAt, endedAt } of dump.runs) {
      if (!shown.has(createdAt)) fail(`run ${id}: created at ${createdAt}, which never was`);
      if (endedAt !== null && !shown.has(endedAt)) fail(`run ${id}: ended at ${endedAt}, which never was`);
    }
  },

  "a started run exists, and every run was started once"(facts, fail) {
    const { dump, runs, memos } = facts;
    const startedBy = new Map<string, number>();
    for (const { kind, runId, eventId } of dump.decisions) {
      if (kind !== "started") continue;
      if (!runs.has(runId!)) fail(`event ${eventId}: run ${runId} is gone`);
      startedBy.set(runId!, (startedBy.get(runId!) ?? 0) + 1);
    }
    for (const run of dump.runs) {
      const count = startedBy.get(run.id) ?? 0;
      // A batch is started by every event it carries.
      if (count !== (run.rerunOf === null ? facts.carried(run).length : 0))
        fail(`run ${run.id}: started by ${count} decisions`);
      if (!memos.has(run.id)) fail(`run ${run.id}: its event ${run.eventId} is gone`);
    }
  },
} satisfies Record<string, Check>;

/** Whether an event that its trigger let in may be decided so in the end. */
function mayBe({ key, rateLimit, singleton, debounce, isPaused }: FunctionFacts, kind: string): boolean {
  if (kind === "started") return true;
  if (kind === "duplicate-key") return key !== undefined;
  if (kind === "rate-limited") return rateLimit !== undefined;
  if (kind === "singleton-skipped") return singleton?.mode === "skip";
  if (kind === "debounced") return debounce !== undefined;
  return kind === "dropped" && isPaused === true;
}
