// A person's word about events that wait for one: paused or held ones are released, and start what they would have started, or are
// dropped. Event by event, each in its own commit: what is interrupted goes on where it was.
import { payloadOf } from "../execute/execute-run.ts";
import { openRun } from "../ingest/open-runs.ts";
import type { Decision } from "../model/decision.ts";
import { errors } from "../model/errors.ts";
import type { DecisionCursor, NewPair } from "../store/store.ts";
import type { Engine } from "./engine.ts";
import type { RegisteredTarget } from "./registry.ts";

export type Verdict = "release" | "drop";

export interface RedecideRequest {
  readonly verdict: Verdict;
  /** Why, for the audit and the decision. */
  readonly reason: string;
}

const pageSize = 100;

/** The new decision; null when it was not pending (any more). */
export async function redecideEvent(
  engine: Engine,
  eventId: string,
  fn: string,
  { verdict, reason }: RedecideRequest,
): Promise<Decision | null> {
  const { store, env, registry, expressions, worker } = engine;
  const event = await store.reads.event(env, eventId);
  if (event === null) throw errors.SUBJECT_UNKNOWN({ id: eventId });
  const runId = engine.newId();
  const pairFor = (target: RegisteredTarget, leaseTo: string | null): NewPair => {
    const payload = payloadOf({ event });
    const occasion = { event: 0, payload, eventId, invokedBy: null, runId, env, now: engine.now(), leaseTo };
    // No triggers: their filters let it in when it arrived.
    return openRun(target, [], occasion, expressions, { released: true, unbuffered: true });
  };
  for (;;) {
    const target = registry.get(fn);
    if (target === null && verdict === "release") throw errors.FUNCTION_UNKNOWN({ function: fn });
    const pair: NewPair =
      verdict === "drop" || target === null
        ? { kind: "dropped", event: 0, fn, reason: reason === "" ? "dropped by hand" : `dropped by hand: ${reason}` }
        : pairFor(target, null);
    const answer = await store.redecide({ env, registration: registry.registration, eventId, pair, reason });
    if (answer.kind === "stale-registration") {
      await registry.refresh();
      continue;
    }
    if (answer.kind === "not-pending") return null;
    worker.takeIn(answer, null);
    return answer.decisions[0] ?? null;
  }
}

/** Every event of the function that waits for a person, the oldest first. Says after each how many are done. */
export async function redecideAll(
  engine: Engine,
  fn: string,
  request: RedecideRequest,
  onProgress: (done: number) => void = () => {},
): Promise<{ readonly decided: number }> {
  const pending = await pendingOf(engine, fn);
  let decided = 0;
  for (const { eventId } of pending.reverse()) {
    if ((await redecideEvent(engine, eventId, fn, request)) !== null) decided++;
    onProgress(decided);
  }
  return { decided };
}

/** Newest first, as lists are. */
async function pendingOf({ store, env }: Engine, fn: string): Promise<DecisionCursor[]> {
  const all: DecisionCursor[] = [];
  let before: DecisionCursor | undefined;
  for (;;) {
    const page = await store.reads.decisionPage(env, {
      fn,
      kinds: ["paused", "held"],
      isPending: true,
      limit: pageSize,
      examinedMax: 10_000,
      ...(before === undefined ? {} : { before }),
    });
    all.push(...page.rows.map(({ eventId }) => ({ eventId, fn })));
    if (page.next === null) return all;
    before = page.next;
  }
}
