// Events that were checked become facts: decided here, stored by the store, and what they start taken up by this process's worker.
import { withValues } from "../model/event-values.ts";
import type { Turns } from "../model/turns.ts";
import type { EventTraces } from "../observe/trace-events.ts";
import type { Platform } from "../platform/platform.ts";
import type { ByHand } from "../store/audit.ts";
import type { Ingested, NewEvent, NewPair } from "../store/ingest.ts";
import type { Store } from "../store/store.ts";
import type { AcknowledgedIds } from "./lost-writes.ts";
import { inTurns, pairsFor, RunIds } from "./prepare-ingest.ts";
import type { Registry } from "./registry.ts";
import type { StoreTime } from "./store-time.ts";
import type { Telling } from "./telling.ts";
import type { Worker } from "./worker.ts";

export interface IngestingEngine {
  readonly store: Store;
  readonly platform: Platform;
  readonly env: string;
  readonly registry: Registry;
  readonly worker: Worker;
  readonly time: StoreTime;
  readonly telling: Telling;
  readonly newId: () => string;
  readonly turns: Turns;
  readonly traces: EventTraces;
  readonly acknowledged: AcknowledgedIds | null;
}

export interface IngestingOptions {
  readonly pairsOf?: typeof pairsFor | undefined;
  readonly byHand?: ByHand | undefined;
  /** A provider delivered them. */
  readonly isDelivery?: boolean;
}

export function ingestEvents(
  engine: IngestingEngine,
  events: readonly NewEvent[],
  { pairsOf = pairsFor, byHand, isDelivery = false }: IngestingOptions = {},
): Promise<Ingested> {
  const traced = engine.traces.begin(events, isDelivery ? "receive" : "send");
  if (traced === null) return ingest(engine, events, pairsOf, byHand);
  return ingest(engine, traced.events, pairsOf, byHand).then(
    (answer) => {
      traced.stored(answer);
      return answer;
    },
    (error) => {
      traced.failed(error);
      throw error;
    },
  );
}

async function ingest(
  engine: IngestingEngine,
  events: readonly NewEvent[],
  pairsOf: typeof pairsFor,
  byHand: ByHand | undefined,
): Promise<Ingested> {
  const { store, env, platform, worker, registry, turns } = engine;
  // The same ids on every try: a second one must not start a second run.
  const runIds = new RunIds(engine.newId);
  for (;;) {
    let reserved = 0;
    const leaseTo = worker.takesDeliveries;
    // Before the first is decided: what is registered while others have their turn makes the store ask for all of them again.
    const { registration } = registry;
    const deciding = pairsOf(events, worker.prepare(), runIds, (target) => {
      const name = worker.reserve(target.fn);
      if (name !== null) reserved++;
      return name;
    });
    try {
      const inTurn = inTurns(deciding, turns);
      const pairs = "then" in inTurn ? await inTurn : inTurn;
      const before = platform.point("ingest:before-commit");
      if (before !== undefined) await before;
      const askedMono = platform.monoMs();
      const input = { env, registration, events: withValues(events, registry.fields), pairs, leaseTo, byHand };
      let answer: Awaited<ReturnType<Store["ingest"]>>;
      try {
        answer = await store.ingest(input);
      } catch (error) {
        if (leaseTo !== null) worker.names.doubt(leaseTo, error);
        throw error;
      }
      if (answer.kind === "stale-registration") {
        await registry.refresh();
        continue;
      }
      const after = platform.point("ingest:after-commit");
      if (after !== undefined) await after;
      engine.time.note(askedMono, answer.now);
      engine.acknowledged?.events(answer.events, answer.now);
      worker.takeIn(answer, leaseTo);
      warnOfMissingKeys(engine, events, pairs, answer);
      return answer;
    } finally {
      worker.unreserve(reserved);
    }
  }
}

/** A run without the key its function asks for is protected by nothing but its steps: people should hear of it. */
function warnOfMissingKeys(
  { registry, telling, env }: IngestingEngine,
  events: readonly NewEvent[],
  pairs: readonly NewPair[],
  { decisions }: Ingested,
): void {
  for (const pair of pairs) {
    // A reason that the store adds, such as the size of a batch, is nothing to worry about.
    if (pair.kind !== "start" || pair.reason === null) continue;
    const eventId = events[pair.event]!.id;
    const of = decisions.find((decision) => decision.eventId === eventId && decision.fn === pair.fn);
    if (of?.kind !== "started") continue;
    const runId = of.runId!;
    telling.tell({ kind: "run.unprotected", env, function: registry.displayName(pair.fn), runId, reason: pair.reason });
  }
}
