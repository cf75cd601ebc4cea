// Keys: one winner inside a window, told to everybody who asks, counted once for each asking.
import { type Check, groupBy } from "./facts.ts";

export const keyChecks = {
  "an event id is used once inside its window"(facts, fail) {
    const { dump, hours, evidence } = facts;
    const { eventWindowMs } = evidence;
    for (const [id, events] of groupBy(dump.events, ({ callerId }) => callerId)) {
      if (id === null) continue;
      const inOrder = events
        .map((event) => ({ event, at: facts.storedAt(event.id) }))
        .sort((a, b) => a.at - b.at || a.event.receivedAt - b.event.receivedAt);
      const firsts = inOrder.filter(({ event }) => event.firstEventId === null);
      firsts.forEach(({ at }, i) => {
        const before = firsts[i - 1];
        if (before !== undefined && hours.isSurelyOpen(before.at, at, eventWindowMs)) {
          fail(`event id ${id}: used again after ${at - before.at} ms`);
        }
      });
      for (const { event, at } of inOrder) {
        if (event.firstEventId === null) continue;
        const first = facts.events.get(event.firstEventId);
        if (first === undefined || first.callerId !== id || first.firstEventId !== null) {
          fail(`event ${event.id}: duplicate of ${event.firstEventId}, which was not first`);
        } else if (hours.isSurelyOver(facts.storedAt(first.id), at, eventWindowMs)) {
          fail(`event ${event.id}: called a duplicate ${at - facts.storedAt(first.id)} ms after the first`);
        }
      }
    }
  },

  "a key has one run inside its window"(facts, fail) {
    const { dump, hours } = facts;
    for (const fn of facts.evidence.functions) {
      const { key } = fn;
      if (key === undefined) continue;
      const runs = dump.runs.filter((run) => facts.of(run) === fn && run.rerunOf === null);
      for (const [text, ofKey] of groupBy(runs, (run) => JSON.stringify(key.of(facts.data(run))))) {
        // By the world's clock: the store's may stand still, having been set back, and then says nothing about who was first.
        const inOrder = [...ofKey].sort((a, b) => facts.storedAt(a.eventId) - facts.storedAt(b.eventId));
        inOrder.forEach((run, i) => {
          if (run.key !== text) fail(`run ${run.id}: its key is ${run.key}, not ${text}`);
          const before = inOrder[i - 1];
          if (before === undefined) return;
          const chain = dump.runs.filter((other) => facts.root(other.id) === before.id);
          const released =
            key.releasedOnFailure &&
            chain.some(({ state, endedAt }) => state !== "completed" && endedAt !== null && endedAt <= run.createdAt);
          const from = facts.storedAt(before.eventId);
          const at = facts.storedAt(run.eventId);
          if (hours.isSurelyOpen(from, at, key.windowMs) && !released) {
            fail(`${fn.id} ${text}: run ${run.id} started ${at - from} ms after ${before.id}`);
          }
          if (key.held && before.endedAt !== null && run.createdAt < before.endedAt) {
            fail(`${fn.id} ${text}: run ${run.id} started while ${before.id} was open`);
          }
        });
      }
    }
  },

  "duplicates name the winner and its window"(facts, fail) {
    for (const decision of facts.dump.decisions) {
      const { kind, runId, eventId, fn } = decision;
      if (kind === "duplicate-event") {
        const firstId = facts.events.get(eventId)?.firstEventId ?? "";
        const first = facts.decisionsOf.get(firstId)?.find((other) => other.fn === fn);
        const winner = first?.runId ?? null;
        if (winner === null ? runId !== null : runId === null || facts.root(runId) !== facts.root(winner)) {
          fail(`event ${eventId} × ${fn}: names run ${runId}, the first event's is ${winner}`);
        }
      }
      if (kind !== "duplicate-key") continue;
      const key = facts.of(decision)?.key;
      const run = runId === null ? undefined : facts.runs.get(runId);
      if (run === undefined || key === undefined) {
        fail(`event ${eventId} × ${fn}: names run ${runId}, which does not exist`);
        continue;
      }
      const own = JSON.stringify(key.of(facts.data(decision)));
      if (run.key !== own || run.fn !== fn) fail(`event ${eventId} × ${fn}: names run ${runId} of key ${run.key}`);
      if (key.releasedOnFailure && run.state === "failed" && run.endedAt! < decision.decidedAt) {
        fail(`event ${eventId} × ${fn}: refused for run ${runId}, which failed and gave its key back`);
      }
      const opened = facts.runs.get(facts.root(run.id))!;
      const from = facts.storedAt(opened.eventId);
      const at = facts.storedAt(eventId);
      if (facts.hours.isSurelyOver(from, at, key.windowMs)) {
        fail(`event ${eventId} × ${fn}: refused ${at - from} ms after run ${opened.id} started`);
      }
    }
  },

  "a claim counts every asking once"({ dump, runs }, fail) {
    for (const claim of dump.claims) {
      if (claim.scope === "event") {
        const asking = dump.events.filter(
          ({ callerId, id, firstEventId }) =>
            callerId === claim.key && (id === claim.holder || firstEventId === claim.holder),
        );
        if (asking.length !== claim.asked) {
          fail(`event id ${claim.key}: asked ${claim.asked} times, ${asking.length} events have it`);
        }
        continue;
      }
      if (!claim.scope.startsWith("fn:")) continue;
      if (!runs.has(claim.generation)) {
        fail(`claim ${claim.scope} ${claim.key}: its generation ${claim.generation} is no run`);
        continue;
      }
      // The window is known by the run each asker was told: two windows may meet in one instant of a clock that stands still.
      const asking = dump.decisions.filter(
        ({ fn, key, kind, runId }) =>
          claim.scope === `fn:${fn}` &&
          key === claim.key &&
          (kind === "started" || kind === "duplicate-key") &&
          runs.get(runId!)?.generation === claim.generation,
      );
      if (asking.length !== claim.asked) {
        fail(`claim ${claim.scope} ${claim.key}: asked ${claim.asked} times, ${asking.length} decisions asked for it`);
      }
    }
  },

  "destination keys stay the same, and change with the window"(facts, fail) {
    const owner = new Map<string, string>();
    const keyOf = new Map<string, string>();
    for (const { run, step, key, fn } of facts.ledger.entries) {
      const stored = facts.runs.get(run);
      if (stored === undefined) continue;
      const identity = `${fn} ${stored.subject} ${stored.generation} ${step}`;
      const known = keyOf.get(identity);
      if (known !== undefined && known !== key) fail(`run ${run} ${step}: key ${key} was ${known}`);
      keyOf.set(identity, key);
      const other = owner.get(key);
      if (other !== undefined && other !== identity) fail(`run ${run} ${step}: key ${key} belongs to ${other}`);
      owner.set(key, identity);
    }
    for (const run of facts.runs.values()) {
      if (run.rerunOf !== null) {
        const old = facts.runs.get(run.rerunOf)!;
        if (old.generation !== run.generation) fail(`run ${run.id}: generation is not that of ${old.id}`);
      }
      const before = run.previousRunId === null ? undefined : facts.runs.get(run.previousRunId);
      const windowMs = facts.of(run)?.key?.windowMs;
      if (before === undefined || windowMs === undefined) continue;
      // A rerun holds the key in its first run's window.
      const from = facts.storedAt(facts.runs.get(facts.root(before.id))!.eventId);
      const at = facts.storedAt(run.eventId);
      const isSame = run.generation === before.generation;
      if (!isSame && facts.hours.isSurelyOpen(from, at, windowMs)) {
        fail(`run ${run.id}: a new generation inside the window of ${before.id}`);
      }
      if (isSame && facts.hours.isSurelyOver(from, at, windowMs)) {
        fail(`run ${run.id}: still the generation of ${before.id}, whose window was over`);
      }
    }
  },
} satisfies Record<string, Check>;
