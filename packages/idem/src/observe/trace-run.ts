// Spans of one pass over a run: the pass itself, the attempts it really makes, what they do outside, and the calls to an app. Steps given back from the
// memo make none.

import { publicEventId } from "../model/event.ts";
import type { Run } from "../model/run.ts";
import type { StepKind } from "../model/step.ts";
import { tickEventName } from "../model/tick.ts";
import { noteTrace, type TracePoint, traceOf } from "../protocol/traceparent.ts";
import type { NewEvent } from "../store/ingest.ts";
import type { RunMemo } from "../store/leases.ts";
import type { AttributesOf } from "./span-list.ts";
import { instantText, type Traced, type Tracing } from "./tracing.ts";

export interface RunTraceOf {
  readonly tracing: Tracing;
  readonly env: string;
  readonly memo: RunMemo;
  /** The function, as people call it. */
  readonly name: string;
  /** The caller of this process for the run; by default the span that sent its event. */
  readonly parent?: TracePoint | null;
  /** Waits are planned by the server that called, which has their spans. */
  readonly waitsElsewhere?: boolean;
}

interface TracedStep {
  readonly name: string;
  readonly kind: StepKind;
}

type OfRun = AttributesOf<"step" | "effect" | "call">;

/** Null where nobody listens. */
export function traceRun({ tracing, env, memo, name, parent, waitsElsewhere = false }: RunTraceOf): TracedRun | null {
  if (!tracing.isOn) return null;
  const { run, event, events, steps } = memo;
  const span = tracing.start("run", {
    of: { function: name },
    attributes: {
      ...ofRun(env, name, run),
      "messaging.system": "idem",
      "messaging.operation.type": "process",
      "messaging.operation.name": "run",
      "messaging.destination.name": event.name,
      "messaging.message.id": publicEventId(event),
      "faas.trigger": event.name === tickEventName ? "timer" : "pubsub",
      "faas.invocation_id": run.id,
      "idem.event.id": event.id,
      "idem.run.replayed": steps.length,
      ...(events.length === 1 ? {} : { "messaging.batch.message_count": events.length }),
      ...(run.key === null ? {} : { "idem.key": run.key }),
      ...(run.rerunOf === null ? {} : { "idem.run.rerun_of": run.rerunOf }),
    },
    parent: parent === undefined ? traceOf(event) : parent,
    links: events.slice(1).flatMap((each) => traceOf(each) ?? []),
  });
  return span === null ? null : new TracedRun(tracing, span, ofRun(env, name, run), { name, waitsElsewhere });
}

const ofRun = (env: string, name: string, { id }: Pick<Run, "id">) => ({
  "idem.env": env,
  "idem.function.id": name,
  "idem.run.id": id,
});

export class TracedRun {
  /** A wait that is being planned: what it sends is its child. */
  private planning: Traced<"step"> | null = null;

  constructor(
    private readonly tracing: Tracing,
    private readonly span: Traced<"run">,
    private readonly attributes: OfRun,
    private readonly of: { readonly name: string; readonly waitsElsewhere: boolean },
  ) {}

  /** For events that are made here. */
  get traceparent(): string {
    return (this.planning ?? this.span).traceparent;
  }

  /** For an event that no step of its own sends: work that was put off until the end. */
  noted(event: NewEvent): NewEvent {
    return traceOf(event) === null ? noteTrace(event, this.traceparent) : event;
  }

  within<T>(run: () => T): T {
    return this.span.within(run);
  }

  attempt({ name, kind }: TracedStep, attempt: number): TracedAttempt | null {
    const own = { ...this.attributes, "idem.step.id": name, "idem.attempt": attempt };
    const attributes = { ...own, "idem.step.kind": kind };
    const span = this.tracing.start("step", { of: { step: name }, attributes, parent: this.span });
    return span === null ? null : new TracedAttempt(this.tracing, span, own);
  }

  /** A step that waits has a span for its beginning: its end is in whichever process goes on. */
  wait<T extends { readonly wait: { readonly timeoutAt: number | null } }>(
    { name, kind }: TracedStep,
    plan: () => T,
  ): T {
    if (this.of.waitsElsewhere) return plan();
    const attributes = { ...this.attributes, "idem.step.id": name, "idem.step.kind": kind };
    const span = this.tracing.start("step", { of: { step: name }, attributes, parent: this.span });
    this.planning = span;
    try {
      const planned = plan();
      const { timeoutAt } = planned.wait;
      if (timeoutAt !== null) span?.set({ "idem.wait.until": instantText(timeoutAt) });
      return planned;
    } catch (error) {
      span?.failed(error);
      throw error;
    } finally {
      this.planning = null;
      span?.end();
    }
  }

  /** Of the app that has the code. `step` is null for a call that asks what comes next. */
  call(step: string | null, attempt: number): TracedCall | null {
    const attributes = {
      ...this.attributes,
      "idem.attempt": attempt,
      ...(step === null ? {} : { "idem.step.id": step }),
    };
    const span = this.tracing.start("call", { of: { function: this.of.name }, attributes, parent: this.span });
    return span === null ? null : new TracedCall(span);
  }

  /** The code itself, between its steps. */
  threw(error: unknown): void {
    this.span.failed(error);
  }

  over(outcome: string): void {
    this.span.set({ "idem.run.outcome": outcome });
    this.span.end();
  }
}

export class TracedAttempt {
  constructor(
    private readonly tracing: Tracing,
    private readonly span: Traced<"step">,
    private readonly attributes: OfRun,
  ) {}

  get traceparent(): string {
    return this.span.traceparent;
  }

  within<T>(run: () => T): T {
    return this.span.within(run);
  }

  failed(error: unknown, retryAt: number | null): void {
    if (retryAt !== null) this.span.set({ "idem.retry_at": instantText(retryAt) });
    this.span.failed(error);
  }

  end(): void {
    this.span.end();
  }

  effect(of: { readonly destination: string; readonly entity: string; readonly key: string }): TracedEffect | null {
    const attributes = {
      ...this.attributes,
      "idem.effect.destination": of.destination,
      "idem.effect.entity": of.entity,
      "idem.effect.key": of.key,
    };
    const span = this.tracing.start("effect", { of, attributes, parent: this.span });
    return span === null ? null : new TracedEffect(span);
  }
}

export class TracedEffect {
  constructor(private readonly span: Traced<"effect">) {}

  within<T>(run: () => T): T {
    return this.span.within(run);
  }

  became(outcome: string): void {
    this.span.set({ "idem.effect.outcome": outcome });
    this.span.end();
  }

  failed(error: unknown, outcome: string): void {
    this.span.failed(error);
    this.became(outcome);
  }
}

export class TracedCall {
  constructor(private readonly span: Traced<"call">) {}

  get traceparent(): string {
    return this.span.traceparent;
  }

  answered(status: number): void {
    this.span.set({ "http.response.status_code": status });
    this.span.end();
  }

  failed(error: unknown): void {
    this.span.failed(error);
    this.span.end();
  }
}
