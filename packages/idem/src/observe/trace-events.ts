// Spans of events: from where they come in until it is decided, for each function, what becomes of them. An event keeps its span in its row; the runs it
// starts are children of it. One that starts no run leaves a span that says why, and a duplicate one that leads to the trace of the run that was first.
import type { Decision } from "../model/decision.ts";
import { publicEventId } from "../model/event.ts";
import { noteTrace, type TracePoint, traceOf, writeTraceparent } from "../protocol/traceparent.ts";
import type { Ingested, NewEvent } from "../store/ingest.ts";
import type { StoreReads } from "../store/reads.ts";
import type { AttributesOf } from "./span-list.ts";
import { instantText, type Tracing } from "./tracing.ts";

export interface EventTracesOf {
  readonly tracing: Tracing;
  readonly env: string;
  readonly reads: Pick<StoreReads, "event" | "run">;
  /** As people call a function. */
  readonly nameOf: (fn: string) => string;
}

type Answered = Pick<Ingested, "events" | "decisions">;

export interface TracedEvents {
  /** As they are to be stored. */
  readonly events: readonly NewEvent[];
  stored(answer: Answered): void;
  failed(error: unknown): void;
}

export interface TracedTick {
  readonly event: NewEvent;
  /** This process was the first to ask for it. */
  fired(answer: Answered): void;
}

// A call of 5,000 events that all were known must not ask the store 10,000 times for it: where there are more, spans have no links.
const lookUpsMax = 100;

export class EventTraces {
  /** Runs whose trace is looked up just now. */
  private readonly lookingUp = new Map<string, Promise<TracePoint | null>>();

  constructor(private readonly of: EventTracesOf) {}

  /** Null where nobody listens. */
  begin(events: readonly NewEvent[], how: "send" | "receive"): TracedEvents | null {
    const { tracing } = this.of;
    if (!tracing.isOn) return null;
    const { active } = tracing;
    const begun = events.map((event) => {
      const span = tracing.start(how, {
        of: { event: event.name },
        attributes: { ...this.attributesOf(event), "messaging.operation.type": how, "messaging.operation.name": how },
        parent: parentOf(traceOf(event), active),
      });
      return { span, event: span === null ? event : noteTrace(event, span.traceparent) };
    });
    const spansOf = new Map(begun.map(({ event, span }) => [event.id, span]));
    const noted = begun.map(({ event }) => event);
    return {
      events: noted,
      stored: (answer) => {
        for (const { id, firstEventId } of answer.events) {
          if (firstEventId !== null) spansOf.get(id)?.set({ "idem.duplicate_of": firstEventId });
        }
        for (const { span } of begun) span?.end();
        this.decided(noted, answer.decisions);
      },
      failed: (error) => {
        for (const { span } of begun) {
          span?.failed(error);
          span?.end();
        }
      },
    };
  }

  /** Of a schedule's instant. A span that is never ended is nobody's: another process was first. */
  beginTick(event: NewEvent, fn: string, cron: string, tickAt: number): TracedTick | null {
    const span = this.of.tracing.start("tick", {
      of: { function: this.of.nameOf(fn) },
      attributes: {
        ...this.attributesOf(event),
        "messaging.operation.type": "send",
        "messaging.operation.name": "tick",
        "idem.function.id": this.of.nameOf(fn),
        "faas.cron": cron,
        "faas.time": instantText(tickAt),
      },
      parent: null,
    });
    if (span === null) return null;
    const noted = noteTrace(event, span.traceparent);
    return {
      event: noted,
      fired: ({ decisions }) => {
        span.end();
        this.decided([noted], decisions);
      },
    };
  }

  /** Notes the active span, for an event that is stored later. */
  noteActive(event: NewEvent): NewEvent {
    const { active } = this.of.tracing;
    return active === null ? event : noteTrace(event, writeTraceparent(active));
  }

  /** Of the events that started no run. */
  decided(events: readonly NewEvent[], decisions: readonly Decision[]): void {
    if (!this.of.tracing.isOn) return;
    const byId = new Map(events.map((event) => [event.id, event]));
    for (const decision of decisions) {
      if (decision.kind === "started" || decision.kind === "filtered") continue;
      const event = byId.get(decision.eventId);
      if (event === undefined) continue;
      const parent = traceOf(event);
      const { runId } = decision;
      const first = runId === null ? null : this.lookUp(runId);
      if (first === null) this.tell(decision, parent, null);
      else void first.then((at) => this.tell(decision, parent, at));
    }
  }

  /** Once for all who ask for it at that time; null where too many are being looked up. */
  private lookUp(runId: string): Promise<TracePoint | null> | null {
    const asked = this.lookingUp.get(runId);
    if (asked !== undefined || this.lookingUp.size >= lookUpsMax) return asked ?? null;
    const first = this.firstTrace(runId);
    this.lookingUp.set(runId, first);
    void first.then(() => this.lookingUp.delete(runId));
    return first;
  }

  /** Resolves once every span that was begun is ended. */
  async idle(): Promise<void> {
    while (this.lookingUp.size > 0) await Promise.all(this.lookingUp.values());
  }

  private tell(decision: Decision, parent: TracePoint | null, first: TracePoint | null): void {
    const { tracing, env, nameOf } = this.of;
    const { kind, fn, eventId, key, reason, runId } = decision;
    const attributes: AttributesOf<"decision"> = {
      "idem.env": env,
      "idem.event.id": eventId,
      "idem.function.id": nameOf(fn),
      "idem.decision": kind,
      ...(key === null ? {} : { "idem.key": key }),
      ...(reason === null ? {} : { "idem.decision.reason": reason }),
      ...(runId === null ? {} : { "idem.suppressed_by": runId }),
    };
    const of = { decision: kind, function: nameOf(fn) };
    tracing.start("decision", { of, attributes, parent, ...(first === null ? {} : { links: [first] }) })?.end();
  }

  /** Where the event is kept that started the run; null for one that was not traced, or is not kept any more. */
  private async firstTrace(runId: string): Promise<TracePoint | null> {
    const { reads, env } = this.of;
    try {
      const run = await reads.run(env, runId);
      const event = run === null ? null : await reads.event(env, run.eventId);
      return event === null ? null : traceOf(event);
    } catch {
      // The store is away: the span says without a link what became of the event.
      return null;
    }
  }

  private attributesOf(event: NewEvent): AttributesOf<"send"> {
    return {
      "idem.env": this.of.env,
      "messaging.system": "idem",
      "messaging.destination.name": event.name,
      "messaging.message.id": publicEventId(event),
      "idem.event.id": event.id,
    };
  }
}

/** The span at work, where it belongs to the trace that the event came with or where it came with none; a timer may be inside of any other. */
const parentOf = (kept: TracePoint | null, active: TracePoint | null): TracePoint | null =>
  kept === null || active?.traceId === kept.traceId ? active : kept;
