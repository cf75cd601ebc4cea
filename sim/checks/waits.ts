// Waits: an event wakes those who waited for it, and no timer is early.
import type { Data } from "../workloads/workload.ts";
import { type Check, groupBy } from "./facts.ts";

// Crashes, rescues and restarts of a deliverer take this much together at most.
const deliveryMaxMs = 150_000;

export const waitChecks = {
  "no timer is early"(facts, fail) {
    const { ledger, hours, memos } = facts;
    for (const { run, step, ms, askedAt, askedStoreAt, overAt } of ledger.slept) {
      if (overAt !== null && hours.isTimerEarly(askedAt, overAt, ms)) {
        fail(`run ${run}: ${step} was over after ${overAt - askedAt} of ${ms} ms`);
      }
      // Also where the code was never told. A step ahead is in the recorded end itself, unless it came before the asking.
      const stored = memos.get(run)?.steps.find(({ name }) => name === step);
      if (stored === undefined || stored.outcome.json !== "null") continue;
      const lasted = stored.endedAt - askedStoreAt;
      // The store counts whole milliseconds; a step of the clock need not.
      if (lasted < ms - Math.ceil(hours.aheadMs(askedAt, askedAt)))
        fail(`run ${run}: ${step} was ended after ${lasted} of ${ms} ms`);
    }
    const { backoffMs } = facts.evidence;
    for (const [name, entries] of groupBy(ledger.entries, ({ run, step }) => `${run} ${step}`)) {
      if (facts.of(facts.runs.get(entries[0]!.run) ?? { fn: "" })?.failures === undefined) continue;
      entries.forEach((entry, i) => {
        const before = entries[i - 1];
        if (before?.left?.how !== "threw" || before.attempt >= entry.attempt) return;
        if (hours.isTimerEarly(before.left.at, entry.at, backoffMs)) {
          fail(`${name}: tried again after ${entry.at - before.left.at} of ${backoffMs} ms`);
        }
      });
    }
  },

  "an event wakes those who waited for it, and nobody else"(facts, fail) {
    const { dump } = facts;
    for (const { run, steps } of dump.memos) {
      for (const { name, kind, outcome, startedAt, endedAt } of steps) {
        if (kind !== "wait-for-event") continue;
        const { token, timeout } = facts.data(run);
        const answer = JSON.parse(outcome.json) as { id: string; data: Data } | null;
        if (answer !== null) {
          const text = JSON.stringify(answer.data);
          const event = dump.events.find(({ data }) => data === text);
          if (event === undefined) fail(`run ${run.id}: ${name} got an event that is not stored`);
          else if (event.firstEventId !== null) fail(`run ${run.id}: ${name} was woken by duplicate ${event.id}`);
          else if (event.receivedAt < startedAt) {
            fail(
              `run ${run.id}: ${name} was woken by ${event.id}, received ${startedAt - event.receivedAt} ms before it`,
            );
          } else if (answer.data.token !== token) fail(`run ${run.id}: ${name} got token ${answer.data.token}`);
          continue;
        }
        // An event that came in good time must not be missed, even if its deliverer crashed. A clock that was set far ahead
        // leaves no time to deliver it.
        const aheadMs = facts.hours.aheadMs(facts.moment(startedAt).from, facts.moment(endedAt).to);
        if (aheadMs > timeout / 4) continue;
        const missed = dump.events.find(
          (event) =>
            event.name === "waits/answer" &&
            event.firstEventId === null &&
            event.receivedAt > startedAt &&
            event.receivedAt + deliveryMaxMs < startedAt + timeout &&
            event.receivedAt < endedAt &&
            (JSON.parse(event.data) as Data).token === token,
        );
        if (missed !== undefined) fail(`run ${run.id}: ${name} missed event ${missed.id}`);
      }
    }
  },
} satisfies Record<string, Check>;
