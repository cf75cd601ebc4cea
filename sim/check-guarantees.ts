// The promises as assertions, over what the outside world saw (the ledger) and what the store holds (the dump).
// Nothing of the engine is imported here: what must be true is said a second time, from the promises.
import type { Dump } from "./dump.ts";
import type { Entry, Ledger } from "./ledger.ts";
import type { Data, FunctionFacts } from "./workloads/workload.ts";

export interface Violation {
  /** The check that failed; two more belong to the simulator itself. */
  readonly check: CheckName | "a seed is one history" | "a world comes to its end";
  readonly detail: string;
}

export interface Evidence {
  readonly ledger: Ledger;
  readonly dump: Dump;
  readonly functions: readonly FunctionFacts[];
  readonly app: string;
  readonly eventWindowMs: number;
  /** How long a reply may be on its way at most. */
  readonly replyMaxMs: number;
  readonly restedAfterMs: number | null;
  readonly backoffMs: number;
}

type Run = Dump["runs"][number];
type Decision = Dump["decisions"][number];
type StoredEvent = Dump["events"][number];
type Memo = Dump["memos"][number];

/** The dump, looked up. */
class Facts {
  readonly events: ReadonlyMap<string, StoredEvent>;
  readonly runs: ReadonlyMap<string, Run>;
  readonly memos: ReadonlyMap<string, Memo>;
  readonly decisionsOf: ReadonlyMap<string, readonly Decision[]>;
  readonly byId: ReadonlyMap<string, FunctionFacts>;

  constructor(readonly evidence: Evidence) {
    const { dump, functions } = evidence;
    this.events = new Map(dump.events.map((event) => [event.id, event]));
    this.runs = new Map(dump.runs.map((run) => [run.id, run]));
    this.memos = new Map(dump.memos.map((memo) => [memo.run.id, memo]));
    this.decisionsOf = groupBy(dump.decisions, ({ eventId }) => eventId);
    this.byId = new Map(functions.map((fn) => [fn.id, fn]));
  }

  of(run: { readonly fn: string }): FunctionFacts | undefined {
    return this.byId.get(run.fn.slice(this.evidence.app.length + 1));
  }

  data(run: Run): Data {
    return JSON.parse(this.events.get(run.eventId)!.data) as Data;
  }

  root(runId: string): string {
    let run = this.runs.get(runId);
    while (run?.rerunOf != null) run = this.runs.get(run.rerunOf);
    return run?.id ?? runId;
  }

  /**
   * Whether the store's own clock was set around these times of it. Windows then last longer, and a step ahead takes leases
   * from living workers, who cannot know it before their next heartbeat.
   */
  clockWasSet(from: number, to: number): boolean {
    return this.evidence.ledger.storeClockSteps.some(
      ({ storeNow, ms }) => storeNow + Math.abs(ms) >= from - 60_000 && storeNow <= to,
    );
  }
}

type Check = (facts: Facts, ledger: Ledger, dump: Dump, fail: (detail: string) => void) => void;

const checks = {
  "acknowledged events are kept unchanged"(facts, ledger, _dump, fail) {
    for (const { call, events, acknowledged } of ledger.sends) {
      if (acknowledged === null) continue;
      if (acknowledged.ids.length !== events.length) fail(`call ${call}: ${acknowledged.ids.length} ids`);
      acknowledged.ids.forEach((id, i) => {
        const stored = facts.events.get(id);
        const sent = events[i]!;
        if (stored === undefined) fail(`call ${call}: event ${id} is gone`);
        else if (stored.data !== sent.data || stored.name !== sent.name || stored.callerId !== sent.id) {
          fail(`call ${call}: event ${id} holds ${stored.data}, sent was ${sent.data}`);
        }
      });
      for (const decision of acknowledged.decisions) {
        const kept = facts.decisionsOf.get(decision.eventId)?.find(
          // A function that is no longer registered is shown under its full name.
          ({ fn }) => fn === decision.function || fn === `${facts.evidence.app}-${decision.function}`,
        );
        if (kept?.kind !== decision.kind || kept.runId !== decision.runId) {
          fail(`call ${call}: told ${JSON.stringify(decision)}, stored is ${JSON.stringify(kept)}`);
        }
      }
    }
  },

  "a call is stored whole or not at all"(_facts, _ledger, dump, fail) {
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

  "a call is stored once"(_facts, ledger, dump, fail) {
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

  "every event and function has one decision"(facts, _ledger, dump, fail) {
    for (const event of dump.events) {
      const data = JSON.parse(event.data) as Data;
      const decisions = facts.decisionsOf.get(event.id) ?? [];
      const decided = groupBy(decisions, ({ fn }) => fn);
      for (const [fn, list] of decided)
        if (list.length > 1) fail(`event ${event.id} × ${fn}: ${list.length} decisions`);
      for (const fn of facts.evidence.functions) {
        if (fn.event !== event.name) continue;
        const decision = decided.get(`${facts.evidence.app}-${fn.id}`)?.[0];
        if (decision === undefined) {
          if (fn.isLate !== true) fail(`event ${event.id} ${event.name} × ${fn.id}: no decision`);
          continue;
        }
        const admitted = fn.admits?.(data) ?? true;
        const isDuplicate = event.firstEventId !== null;
        const right = isDuplicate
          ? decision.kind === "duplicate-event"
          : decision.kind === "started" || decision.kind === "duplicate-key"
            ? admitted
            : decision.kind === "filtered" && (!admitted || fn.failureHandler === undefined);
        if (!right) fail(`event ${event.id} × ${fn.id}: ${decision.kind}`);
      }
    }
  },

  "a started run exists, and every run was started once"(facts, _ledger, dump, fail) {
    const startedBy = new Map<string, number>();
    for (const { kind, runId, eventId } of dump.decisions) {
      if (kind !== "started") continue;
      const run = facts.runs.get(runId!);
      if (run === undefined) fail(`event ${eventId}: run ${runId} is gone`);
      startedBy.set(runId!, (startedBy.get(runId!) ?? 0) + 1);
    }
    for (const run of dump.runs) {
      const count = startedBy.get(run.id) ?? 0;
      if (count !== (run.rerunOf === null ? 1 : 0)) fail(`run ${run.id}: started by ${count} decisions`);
    }
  },

  "an event id is used once inside its window"(facts, _ledger, dump, fail) {
    const { eventWindowMs } = facts.evidence;
    for (const [id, events] of groupBy(dump.events, ({ callerId }) => callerId)) {
      if (id === null) continue;
      const inOrder = [...events].sort((a, b) => a.receivedAt - b.receivedAt);
      const firsts = inOrder.filter(({ firstEventId }) => firstEventId === null);
      firsts.forEach((event, i) => {
        const before = firsts[i - 1];
        if (before !== undefined && event.receivedAt - before.receivedAt < eventWindowMs) {
          fail(`event id ${id}: used again after ${event.receivedAt - before.receivedAt} ms`);
        }
      });
      for (const event of inOrder) {
        if (event.firstEventId === null) continue;
        const first = facts.events.get(event.firstEventId);
        if (first === undefined || first.callerId !== id || first.firstEventId !== null) {
          fail(`event ${event.id}: duplicate of ${event.firstEventId}, which was not first`);
        } else if (
          event.receivedAt >= first.receivedAt + eventWindowMs &&
          !facts.clockWasSet(first.receivedAt, event.receivedAt)
        ) {
          fail(`event ${event.id}: called a duplicate ${event.receivedAt - first.receivedAt} ms after the first`);
        }
      }
    }
  },

  "a key has one run inside its window"(facts, _ledger, dump, fail) {
    for (const fn of facts.evidence.functions) {
      const { key } = fn;
      if (key === undefined) continue;
      const runs = dump.runs.filter((run) => facts.of(run) === fn && run.rerunOf === null);
      for (const [text, ofKey] of groupBy(runs, (run) => JSON.stringify(key.of(facts.data(run))))) {
        // While the store's clock stands still (it was set back) only the runs themselves say who took the key from whom.
        const inOrder = [...ofKey].sort((a, b) => {
          if (a.createdAt !== b.createdAt) return a.createdAt - b.createdAt;
          if (a.previousRunId === b.id || b.previousRunId === a.id) return a.previousRunId === b.id ? 1 : -1;
          return a.id < b.id ? -1 : 1;
        });
        inOrder.forEach((run, i) => {
          if (run.key !== text) fail(`run ${run.id}: its key is ${run.key}, not ${text}`);
          const before = inOrder[i - 1];
          if (before === undefined) return;
          const chain = dump.runs.filter((other) => facts.root(other.id) === before.id);
          const released =
            key.releasedOnFailure &&
            chain.some(({ state, endedAt }) => state !== "completed" && endedAt !== null && endedAt <= run.createdAt);
          if (run.createdAt - before.createdAt < key.windowMs && !released) {
            fail(`${fn.id} ${text}: run ${run.id} started ${run.createdAt - before.createdAt} ms after ${before.id}`);
          }
          if (key.held && before.endedAt !== null && run.createdAt < before.endedAt) {
            fail(`${fn.id} ${text}: run ${run.id} started while ${before.id} was open`);
          }
        });
      }
    }
  },

  "duplicates name the winner and its window"(facts, _ledger, dump, fail) {
    for (const decision of dump.decisions) {
      const { kind, runId, eventId, fn } = decision;
      if (kind === "duplicate-event") {
        const event = facts.events.get(eventId)!;
        const first = facts.decisionsOf.get(event.firstEventId ?? "")?.find((other) => other.fn === fn);
        const winner = first?.runId ?? null;
        if (winner === null ? runId !== null : runId === null || facts.root(runId) !== facts.root(winner)) {
          fail(`event ${eventId} × ${fn}: names run ${runId}, the first event's is ${winner}`);
        }
      }
      if (kind !== "duplicate-key") continue;
      const facts_ = facts.of(decision);
      const run = runId === null ? undefined : facts.runs.get(runId);
      if (run === undefined || facts_?.key === undefined) {
        fail(`event ${eventId} × ${fn}: names run ${runId}, which does not exist`);
        continue;
      }
      const own = JSON.stringify(facts_.key.of(JSON.parse(facts.events.get(eventId)!.data) as Data));
      if (run.key !== own || run.fn !== fn) fail(`event ${eventId} × ${fn}: names run ${runId} of key ${run.key}`);
      if (facts_.key.releasedOnFailure && run.state === "failed" && run.endedAt! < decision.decidedAt) {
        fail(`event ${eventId} × ${fn}: refused for run ${runId}, which failed and gave its key back`);
      }
      const opened = facts.runs.get(facts.root(run.id))!;
      const late = decision.decidedAt - opened.createdAt;
      if (late >= facts_.key.windowMs && !facts.clockWasSet(opened.createdAt, decision.decidedAt)) {
        fail(`event ${eventId} × ${fn}: refused ${late} ms after run ${opened.id} started`);
      }
    }
  },

  "a claim counts every asking once"(facts, _ledger, dump, fail) {
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
      const opened = facts.runs.get(claim.generation);
      if (opened === undefined) {
        fail(`claim ${claim.scope} ${claim.key}: its generation ${claim.generation} is no run`);
        continue;
      }
      const asking = dump.decisions.filter(
        ({ fn, key, kind, decidedAt }) =>
          claim.scope === `fn:${fn}` &&
          key === claim.key &&
          (kind === "started" || kind === "duplicate-key") &&
          decidedAt >= opened.createdAt,
      );
      if (asking.length !== claim.asked) {
        fail(`claim ${claim.scope} ${claim.key}: asked ${claim.asked} times, ${asking.length} decisions asked for it`);
      }
    }
  },

  "no step is entered after its value reached the code"(facts, ledger, _dump, fail) {
    const reached = new Map<string, { order: number; at: number; process: string }>();
    for (const handed of ledger.handed) {
      const name = `${handed.run} ${handed.step}`;
      if (!reached.has(name)) reached.set(name, handed);
    }
    for (const entry of ledger.entries) {
      const first = reached.get(`${entry.run} ${entry.step}`);
      if (first === undefined || entry.order < first.order) continue;
      if (entry.process !== first.process && facts.clockWasSet(entry.storeNow, entry.storeNow)) continue;
      fail(`${entry.process} entered ${entry.step} of run ${entry.run} at ${entry.at}, known since ${first.at}`);
    }
  },

  "a step has one value"(facts, ledger, dump, fail) {
    for (const [name, values] of groupBy(ledger.handed, ({ run, step }) => `${run} ${step}`)) {
      const distinct = new Set(values.map(({ value }) => value));
      if (distinct.size > 1) fail(`${name}: ${[...distinct].join(" and ")}`);
      const { run, step } = values[0]!;
      const stored = facts.memos.get(run)?.steps.find((other) => other.name === step);
      if (stored === undefined) fail(`${name}: reached the code and is not stored`);
      else if (JSON.stringify(JSON.parse(stored.outcome.json)) !== values[0]!.value) {
        fail(`${name}: the code got ${values[0]!.value}, stored is ${stored.outcome.json}`);
      }
    }
    for (const { run, steps } of dump.memos) {
      for (const [id, list] of groupBy(steps, ({ stepId }) => stepId)) {
        if (list.length > 1) fail(`run ${run.id}: ${list.length} outcomes of step ${id}`);
      }
    }
  },

  "an attempt is repeated only after an error, a lost process or a lost lease"(facts, ledger, _dump, fail) {
    for (const [name, entries] of groupBy(ledger.entries, ({ run, step }) => `${run} ${step}`)) {
      entries.forEach((entry, i) => {
        const before = entries[i - 1];
        if (before === undefined) return;
        if (before.left?.how === "threw" && before.left.at <= entry.at) return;
        if (wasLost(ledger, before, entry.at) || facts.clockWasSet(entry.storeNow, entry.storeNow)) return;
        fail(`${name}: ${entry.process} entered it at ${entry.at}, while ${before.process} had since ${before.at}`);
      });
    }
  },

  "nothing is stuck"(facts, _ledger, dump, fail) {
    if (facts.evidence.restedAfterMs === null) fail("the world did not come to rest after it healed");
    for (const run of dump.runs) {
      if (!isEnded(run)) fail(`run ${run.id} of ${run.fn} is ${run.state}, due at ${run.dueAt}`);
    }
  },

  "a run ends as its function says"(facts, ledger, dump, fail) {
    const cancelled = new Set(ledger.cancels.map(({ run }) => run));
    for (const { run, steps, attempts } of dump.memos) {
      const fn = facts.of(run);
      if (fn === undefined || !isEnded(run)) continue;
      const data = facts.data(run);
      if (run.state === "cancelled") continue;
      if (run.state !== fn.ends(data)) fail(`run ${run.id} of ${fn.id}: ${run.state}, with ${run.result}`);
      if (run.state !== "completed") continue;
      const { values } = JSON.parse(run.result!) as { values: Record<string, unknown> };
      for (const step of fn.steps(data)) {
        const stored = steps.find(({ name }) => name === step);
        if (stored === undefined || JSON.stringify(values[step]) !== stored.outcome.json) {
          fail(`run ${run.id} of ${fn.id}: returned ${JSON.stringify(values[step])} for ${step}`);
        }
      }
      for (const [step, count] of Object.entries(fn.failures?.(data) ?? {})) {
        const failed = attempts.filter(({ name }) => name === step).length;
        if (failed !== count && !cancelled.has(run.id)) {
          fail(`run ${run.id} of ${fn.id}: ${failed} failures of "${step}" recorded, ${count} happened`);
        }
      }
      const winners = steps.filter(({ name }) => name.startsWith("after-"));
      if (winners.length > 1) fail(`run ${run.id}: a race had ${winners.length} winners`);
    }
  },

  "an end that was seen stands"(facts, ledger, _dump, fail) {
    for (const { run, state, output } of ledger.ends) {
      const stored = facts.runs.get(run);
      const result = stored?.state === "completed" ? JSON.stringify(JSON.parse(stored.result!)) : "null";
      if (stored?.state !== state || (state === "completed" && result !== output)) {
        fail(`run ${run}: seen ${state} ${output}, stored is ${stored?.state} ${stored?.result}`);
      }
    }
    for (const { run, won } of ledger.cancels) {
      const state = facts.runs.get(run)?.state;
      if (won && state !== "cancelled") fail(`run ${run}: its cancel was confirmed, it is ${state}`);
    }
    for (const { run, of } of ledger.reruns) {
      if (facts.runs.get(run)?.rerunOf !== of) fail(`run ${run}: confirmed as rerun of ${of}, which it is not`);
    }
  },

  "no timer is early"(facts, ledger, dump, fail) {
    for (const { run, step, ms, askedAt, overAt } of ledger.slept) {
      if (overAt === null || overAt - askedAt >= ms || facts.clockWasSet(askedAt, overAt)) continue;
      fail(`run ${run}: ${step} was over after ${overAt - askedAt} of ${ms} ms`);
    }
    const { backoffMs } = facts.evidence;
    for (const [name, entries] of groupBy(ledger.entries, ({ run, step }) => `${run} ${step}`)) {
      if (facts.of(facts.runs.get(entries[0]!.run) ?? { fn: "" })?.failures === undefined) continue;
      entries.forEach((entry, i) => {
        const before = entries[i - 1];
        if (before?.left?.how !== "threw" || before.attempt >= entry.attempt) return;
        // The store counts whole milliseconds, the world does not.
        const waited = entry.at - before.left.at;
        if (waited < backoffMs - 1 && !facts.clockWasSet(before.storeNow, entry.storeNow)) {
          fail(`${name}: tried again after ${waited} of ${backoffMs} ms`);
        }
      });
    }
    for (const { run, steps } of dump.memos) {
      for (const { name, kind, outcome, startedAt, endedAt } of steps) {
        if (kind === "wait-for-event" && outcome.json === "null") {
          const { timeout } = facts.data(run);
          if (
            endedAt - startedAt < timeout - facts.evidence.replyMaxMs * 2 - 2_000 &&
            !facts.clockWasSet(startedAt, endedAt)
          ) {
            fail(`run ${run.id}: ${name} timed out after ${endedAt - startedAt} of ${timeout} ms`);
          }
        }
      }
    }
  },

  "nothing happens after a cancel was confirmed"(facts, ledger, dump, fail) {
    for (const { run, at, process, won } of ledger.cancels) {
      if (!won) continue;
      for (const entry of ledger.entries) {
        if (entry.run !== run || entry.at <= at) continue;
        // On another node a step may begin whose permission was already on its way.
        if (entry.process !== process && entry.at <= at + facts.evidence.replyMaxMs) continue;
        fail(`run ${run}: ${entry.process} entered ${entry.step} at ${entry.at}, cancelled at ${at}`);
      }
    }
    for (const { run, steps, waits } of dump.memos) {
      if (!isEnded(run)) continue;
      if (waits.length > 0) fail(`run ${run.id} is ${run.state} and still waits`);
      for (const { name, stamp, endedAt } of steps) {
        if (Math.floor(stamp / 1_000) > run.endedAt! + 1_000)
          fail(`run ${run.id}: ${name} recorded after its end (${endedAt})`);
      }
    }
  },

  "an event wakes those who waited for it, and nobody else"(facts, _ledger, dump, fail) {
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
        // An event that came in good time must not be missed, whoever crashed while delivering it.
        const missed = dump.events.find(
          (event) =>
            event.name === "waits/answer" &&
            event.firstEventId === null &&
            event.receivedAt > startedAt &&
            event.receivedAt + 150_000 < startedAt + timeout &&
            event.receivedAt < endedAt &&
            (JSON.parse(event.data) as Data).token === token,
        );
        if (missed !== undefined) fail(`run ${run.id}: ${name} missed event ${missed.id}`);
      }
    }
  },

  "what a run starts is started once"(facts, _ledger, dump, fail) {
    const sent = groupBy(dump.events, ({ sourceRunId }) => sourceRunId);
    for (const { run, steps } of dump.memos) {
      const events = sent.get(run.id) ?? [];
      const named = (name: string) => events.filter((event) => event.name === name);
      const fn = facts.of(run);
      if (fn?.id === "fan-out") {
        const expected = steps.some(({ name }) => name === "send") ? (facts.data(run).count as number) : 0;
        if (named("children/leaf").length !== expected) {
          fail(`run ${run.id}: sent ${named("children/leaf").length} of ${expected} events`);
        }
      }
      if (fn?.id === "parent") {
        const children = named("inngest/function.invoked");
        if (children.length > 1) fail(`run ${run.id}: invoked ${children.length} children`);
        const invoked = steps.find(({ name }) => name === "invoke");
        if (invoked !== undefined) {
          const child = dump.runs.find(({ eventId }) => eventId === children[0]?.id);
          if (child === undefined) fail(`run ${run.id}: has an answer and no child`);
          else if (child.result !== invoked.outcome.json) {
            fail(`run ${run.id}: got ${invoked.outcome.json}, its child returned ${child.result}`);
          }
        }
      }
      if (fn?.failureHandler !== undefined && isEnded(run)) {
        const told = named("inngest/function.failed");
        const expected = run.state === "failed" ? 1 : 0;
        if (told.length !== expected) fail(`run ${run.id} is ${run.state}: ${told.length} handlers were told`);
      }
    }
  },

  "destination keys stay the same, and change with the window"(facts, ledger, _dump, fail) {
    const owner = new Map<string, string>();
    const keyOf = new Map<string, string>();
    for (const { run, step, key, fn } of ledger.entries) {
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
      const opened = facts.runs.get(before.generation) ?? before;
      // A rerun holds the key in its first run's window.
      const sameWindow = run.createdAt < facts.runs.get(facts.root(before.id))!.createdAt + windowMs;
      if (sameWindow && run.generation !== before.generation && !facts.clockWasSet(opened.createdAt, run.createdAt)) {
        fail(`run ${run.id}: a new generation inside the window of ${before.id}`);
      }
    }
  },
} satisfies Record<string, Check>;

export type CheckName = keyof typeof checks;
export const checkNames = Object.keys(checks) as CheckName[];

export function checkGuarantees(evidence: Evidence): Violation[] {
  const facts = new Facts(evidence);
  const violations: Violation[] = [];
  for (const check of checkNames) {
    const fail = (detail: string) => violations.push({ check, detail });
    (checks[check] as Check)(facts, evidence.ledger, evidence.dump, fail);
  }
  return violations;
}

const isEnded = ({ state }: { readonly state: string }): boolean =>
  state === "completed" || state === "failed" || state === "cancelled";

function wasLost(ledger: Ledger, entry: Entry, until: number): boolean {
  const { process, at } = entry;
  return (
    ledger.lostProcesses.some((lost) => lost.process === process && lost.at <= until) ||
    ledger.lostLeases.some((lost) => lost.process === process && lost.at >= at && lost.at <= until)
  );
}

function groupBy<T, K>(list: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of list) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
