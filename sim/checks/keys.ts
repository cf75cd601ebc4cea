// Keys: one winner inside a window, named to everybody who asks, counted once for each asking.
import { type Check, groupBy } from "./facts.ts";
import { announcedForMs, detectedEvent } from "./radar.ts";

export const keyChecks = {
  "an event id is used once inside its window"(facts, fail) {
    const { dump, hours, evidence } = facts;
    for (const [id, events] of groupBy(dump.events, ({ callerId }) => callerId)) {
      if (id === null) continue;
      const eventWindowMs = events[0]!.name === detectedEvent ? announcedForMs : evidence.eventWindowMs;
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
      const carriers = runs.flatMap((run) => {
        const keys = facts.carried(run).map(({ key: text }) => text);
        const isBatch = run.key === null && fn.batch !== undefined;
        if (!isBatch && run.key !== keys[0]) fail(`run ${run.id}: its key is ${run.key}, not ${keys[0]}`);
        if (new Set(keys).size < keys.length) fail(`run ${run.id}: carries a key twice: ${keys.join(" ")}`);
        return keys.flatMap((text) => (text === null ? [] : [{ run, text, at: facts.created(run) }]));
      });
      for (const [text, ofKey] of groupBy(carriers, (carrier) => carrier.text)) {
        // By the world's clock: the store's may stand still, having been set back, and then says nothing about who was first.
        // Of runs of one standing instant the ledger knows which was entered, or cancelled before that, first.
        const enteredAt = ({ run }: (typeof ofKey)[number]) => {
          const entry = facts.ledger.entries.find((each) => each.run === run.id);
          return entry?.at ?? facts.ledger.cancelled.get(run.id) ?? Number.MAX_SAFE_INTEGER;
        };
        const inOrder = [...ofKey].sort(
          (a, b) => a.at.from - b.at.from || a.run.createdAt - b.run.createdAt || enteredAt(a) - enteredAt(b),
        );
        inOrder.forEach(({ run, at }, i) => {
          const { run: before, at: from } = inOrder[i - 1] ?? {};
          if (before === undefined) return;
          const chain = dump.runs.filter((other) => facts.root(other.id) === before.id);
          const released =
            key.releasedOnFailure &&
            chain.some(({ state, endedAt }) => state !== "completed" && endedAt !== null && endedAt <= run.createdAt);
          if (hours.isSurelyOpen(from!.from, at.to, key.windowMs) && !released) {
            fail(`${fn.id} ${text}: run ${run.id} started ${at.to - from!.from} ms after ${before.id}`);
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
        // The first may have been decided later.
        const winner = first !== undefined && first.decidedAt <= decision.decidedAt ? first.runId : null;
        if (first !== undefined && first.decidedAt >= decision.decidedAt && runId === null) continue;
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
      const held = facts.carried(run).map((carried) => carried.key);
      if (!held.includes(own) || run.fn !== fn) fail(`event ${eventId} × ${fn}: names run ${runId} of key ${held}`);
      const brought = facts.carried(run).find((carried) => carried.key === own)?.event.id;
      if (decision.firstEventId !== brought) {
        fail(`event ${eventId} × ${fn}: names event ${decision.firstEventId}, the key came with ${brought}`);
      }
      if (key.releasedOnFailure && run.state === "failed" && run.endedAt! < decision.decidedAt) {
        fail(`event ${eventId} × ${fn}: refused for run ${runId}, which failed and gave its key back`);
      }
      const opened = facts.runs.get(facts.root(run.id))!;
      const from = facts.created(opened).to;
      const at = facts.decided(decision).from;
      const isHeld = key.held && opened.endedAt !== null && decision.decidedAt <= opened.endedAt;
      if (facts.hours.isSurelyOver(from, at, key.windowMs) && !isHeld) {
        fail(`event ${eventId} × ${fn}: refused ${at - from} ms after run ${opened.id} started`);
      }
    }
  },

  "a claim counts every asking once"(facts, fail) {
    const { dump, runs } = facts;
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
      // A batch has many keys, and a generation of its own: its window is known by the run that opened it.
      const ofBatch = facts.of({ fn: claim.scope.slice(3) })?.batch !== undefined;
      if (ofBatch && facts.of({ fn: claim.scope.slice(3) })!.key!.releasedOnFailure) continue;
      // The window is known by the run each asker was told: two windows may meet in one instant of a clock that stands still.
      const asking = dump.decisions.filter(
        ({ fn, key, kind, runId }) =>
          claim.scope === `fn:${fn}` &&
          key === claim.key &&
          (kind === "started" || kind === "duplicate-key") &&
          (ofBatch ? facts.root(runId!) : runs.get(runId!)?.generation) === claim.generation,
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
      // A batch has many keys, and a generation of its own.
      const isBatch = before !== undefined && before.key === null;
      if (before === undefined || windowMs === undefined || isBatch) continue;
      // A rerun holds the key in its first run's window.
      const from = facts.created(facts.runs.get(facts.root(before.id))!);
      const at = facts.created(run);
      const isSame = run.generation === before.generation;
      if (!isSame && facts.hours.isSurelyOpen(from.from, at.to, windowMs)) {
        fail(`run ${run.id}: a new generation inside the window of ${before.id}`);
      }
      if (isSame && facts.hours.isSurelyOver(from.to, at.from, windowMs)) {
        fail(`run ${run.id}: still the generation of ${before.id}, whose window was over`);
      }
    }
  },
} satisfies Record<string, Check>;
