// A person's word about events that wait for one: paused or held ones are released, and start what they would have started, or are
// dropped. Each event is decided by itself: what is interrupted goes on where it was.

import { openRun } from "../ingest/open-runs.ts";
import type { Decision, DecisionKind } from "../model/decision.ts";
import { errors } from "../model/errors.ts";
import { type Event, payloadOf } from "../model/event.ts";
import type { Audited } from "../store/audit.ts";
import type { RedecideAnswer } from "../store/flow.ts";
import type { NewPair } from "../store/ingest.ts";
import type { Engine } from "./engine.ts";

export type Verdict = "release" | "drop";

export interface RedecideRequest extends Audited {
  readonly verdict: Verdict;
  /** Why, for the audit and the decision. */
  readonly reason: string;
}

export interface OldestRequest extends RedecideRequest {
  readonly kinds: readonly Extract<DecisionKind, "paused" | "held">[];
  /** Only those decided before this instant. */
  readonly until?: number;
  readonly max: number;
}

// Enough to fill a group commit, too few to get in the way of the runs themselves.
const atOnce = 50;

/** The new decision; null when it was not pending (any more). */
export async function redecideEvent(
  engine: Engine,
  eventId: string,
  fn: string,
  request: RedecideRequest,
): Promise<Decision | null> {
  const event = await engine.store.reads.event(engine.env, eventId);
  if (event === null) throw errors.SUBJECT_UNKNOWN({ id: eventId });
  return (await redecide(engine, [event], fn, request))[0]!;
}

/** Events of the function that wait for a person, the oldest first and at most `max` of them. */
export async function redecideOldest(
  engine: Engine,
  fn: string,
  request: OldestRequest,
): Promise<{ readonly decided: number; readonly isAll: boolean }> {
  const { reads } = engine.store;
  const { kinds, until, max } = request;
  let decided = 0;
  for (let left = max; left > 0; ) {
    const limit = Math.min(atOnce, left);
    const { rows, next } = await reads.decisionPage(engine.env, {
      fn,
      kinds,
      isPending: true,
      oldestFirst: true,
      limit,
      // Without a cursor a page that is short for any other reason than its end would be asked for again for ever.
      examinedMax: Number.MAX_SAFE_INTEGER,
      ...(until === undefined ? {} : { until }),
    });
    const events = await Promise.all(rows.map(({ eventId }) => reads.event(engine.env, eventId)));
    const found = events.filter((event) => event !== null);
    const decisions = await redecide(engine, found, fn, request);
    decided += decisions.filter((decision) => decision !== null).length;
    if (next === null) return { decided, isAll: true };
    left -= rows.length;
  }
  return { decided, isAll: false };
}

/** In the order given: a store takes what it is asked in the order of asking. */
async function redecide(
  engine: Engine,
  events: readonly Event[],
  fn: string,
  { verdict, reason, actor }: RedecideRequest,
): Promise<(Decision | null)[]> {
  const { store, env, registry, worker } = engine;
  const runIds = events.map(() => engine.newId());
  const decisions = events.map((): Decision | null => null);
  for (let open = events.map((_, i) => i); open.length > 0; ) {
    const { registration } = registry;
    const asked = open.map((i) => {
      const event = events[i]!;
      const pair: NewPair = verdict === "drop" ? droppedPair(fn, reason) : releasedPair(engine, event, fn, runIds[i]!);
      return store.redecide({ env, registration, eventId: event.id, pair, reason, actor });
    });
    // Also when one of them fails: a run that was started must not wait for the next look.
    const answers = await Promise.allSettled(asked);
    const stale: number[] = [];
    for (const [at, settled] of answers.entries()) {
      const i = open[at]!;
      const answer: RedecideAnswer | null = settled.status === "fulfilled" ? settled.value : null;
      if (answer?.kind === "stale-registration") stale.push(i);
      if (answer?.kind !== "ingested") continue;
      worker.takeIn(answer, null);
      decisions[i] = answer.decisions[0] ?? null;
    }
    const failed = answers.find((settled) => settled.status === "rejected");
    if (failed !== undefined) throw failed.reason;
    if (stale.length > 0) await registry.refresh();
    open = stale;
  }
  return decisions;
}

const droppedPair = (fn: string, reason: string): NewPair => ({
  kind: "dropped",
  event: 0,
  fn,
  reason: reason === "" ? "dropped by hand" : `dropped by hand: ${reason}`,
});

function releasedPair(engine: Engine, event: Event, fn: string, runId: string): NewPair {
  const { registry, env, expressions } = engine;
  const found = registry.get(fn);
  if (found === null) throw errors.FUNCTION_UNKNOWN({ function: fn });
  // Decided under a name it had, it is decided again under that one.
  const target = { ...found, fn };
  // A pause is decided before the filters are asked. An invoked function and a tick have none.
  const triggers = registry.match(event.name).find((match) => match.target.fn === found.fn)?.triggers ?? [];
  const payload = payloadOf(event);
  const occasion = {
    event: 0,
    payload,
    written: event,
    eventId: event.id,
    invokedBy: null,
    runId,
    env,
    now: engine.now(),
    leaseTo: null,
  };
  return openRun(target, triggers, occasion, expressions, { released: true, unbuffered: true });
}
