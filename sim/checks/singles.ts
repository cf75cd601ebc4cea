// One open run at a time, events that end runs, and functions that people pause.
import type { Data } from "../workloads/workload.ts";
import { type Check, groupBy } from "./facts.ts";

// Crashes, rescues and restarts of a deliverer take this much together at most.
const deliveryMaxMs = 150_000;

export const singleChecks = {
  "a singleton has one open run"(facts, fail) {
    for (const fn of facts.evidence.functions) {
      const { singleton } = fn;
      if (singleton === undefined) continue;
      const runs = facts.dump.runs.filter((run) => facts.of(run) === fn && run.rerunOf === null);
      for (const [key, ofKey] of groupBy(runs, (run) => singleton.of(facts.data(run)))) {
        const inOrder = [...ofKey].sort((a, b) => a.createdAt - b.createdAt || (a.endedAt ?? 0) - (b.endedAt ?? 0));
        inOrder.forEach((run, i) => {
          const before = inOrder[i - 1];
          if (before !== undefined && (before.endedAt === null || before.endedAt > run.createdAt)) {
            fail(`${fn.id} ${key}: run ${run.id} was created while ${before.id} was open`);
          }
        });
        for (const run of ofKey) {
          const newerId = /cancelled by run (\w+), a newer one/.exec(run.result ?? "")?.[1];
          if (newerId === undefined) continue;
          const newer = ofKey.find(({ id }) => id === newerId);
          if (newer?.createdAt !== run.endedAt) fail(`${fn.id} ${key}: run ${run.id} made room for ${newerId}`);
        }
      }
      for (const decision of facts.dump.decisions) {
        if (facts.of(decision) !== fn || decision.kind !== "singleton-skipped") continue;
        const run = facts.runs.get(decision.runId ?? "");
        const wasOpen =
          run !== undefined && run.createdAt <= decision.decidedAt && (run.endedAt ?? 0) >= decision.decidedAt;
        if (!wasOpen)
          fail(`event ${decision.eventId} × ${fn.id}: skipped for run ${decision.runId}, which was not open`);
      }
    }
  },

  "an event ends the runs it is meant for, and nobody else"(facts, fail) {
    for (const run of facts.dump.runs) {
      const rule = facts.of(run)?.cancelOn;
      if (rule === undefined) continue;
      const endsAt = rule.lastsMs === null ? Number.POSITIVE_INFINITY : run.createdAt + rule.lastsMs;
      const own = rule.of(facts.data(run));
      const meant = facts.dump.events.filter(
        (event) =>
          event.name === rule.event &&
          event.firstEventId === null &&
          event.receivedAt >= run.createdAt &&
          event.receivedAt < endsAt &&
          rule.of(JSON.parse(event.data) as Data) === own,
      );
      const named = /cancelled by event (\w+)/.exec(run.result ?? "")?.[1];
      if (run.state === "cancelled" && named !== undefined) {
        if (!meant.some(({ id }) => id === named))
          fail(`run ${run.id}: cancelled by ${named}, which was not meant for it`);
        continue;
      }
      const missed = meant.find(
        ({ receivedAt }) =>
          receivedAt > run.createdAt && run.endedAt !== null && receivedAt + deliveryMaxMs < run.endedAt,
      );
      if (missed === undefined) continue;
      const ahead = facts.hours.aheadMs(facts.moment(missed.receivedAt).from, facts.moment(run.endedAt!).to);
      if (missed.receivedAt + deliveryMaxMs + ahead < run.endedAt!) fail(`run ${run.id}: missed event ${missed.id}`);
    }
  },

  "a paused function starts nothing"(facts, fail) {
    for (const { fn, from, to } of facts.ledger.pauses) {
      if (to === null) continue;
      for (const run of facts.dump.runs) {
        if (run.fn !== fn || run.rerunOf !== null || facts.byPerson({ eventId: run.eventId, fn })) continue;
        if (run.createdAt > from && run.createdAt < to) {
          fail(`run ${run.id} of ${fn}: created at ${run.createdAt}, paused from ${from} to ${to}`);
        }
      }
    }
  },
} satisfies Record<string, Check>;
