// Every span Idem makes and every attribute one may have. Code can set no other, and docs/observability.md has the same tables.
// Names are those of OpenTelemetry's semantic conventions (messaging, faas, http, error) where they have one, else our own.

export const spanAttributes = {
  "messaging.system": "`idem`",
  "messaging.operation.type": "`send`, `receive` or `process`",
  "messaging.operation.name": "the same in our words: `send`, `receive`, `tick` or `run`",
  "messaging.destination.name": "the event's name",
  "messaging.message.id": "the event's id, as its sender gave it",
  "messaging.batch.message_count": "how many events the run carries; only of a batch",
  "faas.trigger": "`pubsub` for an event, `timer` for a schedule",
  "faas.invocation_id": "the run's id",
  "faas.cron": "the schedule",
  "faas.time": "the instant of the schedule",
  "http.response.status_code": "what the app answered with",
  "error.type": "the code of an error that has one, else its name",
  "idem.env": "the environment",
  "idem.event.id": "the event's own id, which is never used twice",
  "idem.duplicate_of": "the event that was first with the sender's id",
  "idem.function.id": "the function, as its app calls it",
  "idem.run.id": "the run",
  "idem.run.outcome": "what the pass left: `completed`, `failed`, `cancelled`, `waiting`, `parked`, `lost` or `broken`",
  "idem.run.rerun_of": "the run that a person asked to have again",
  "idem.run.replayed": "how many outcomes the code was given back instead of doing it again",
  "idem.key": "the function's key, as JSON",
  "idem.decision": "what became of the event for this function",
  "idem.decision.reason": "why, in words",
  "idem.suppressed_by": "the run that answers for the event, or stood in its way",
  "idem.step.id": "the step, as its author calls it",
  "idem.step.kind": "`run`, `effect`, `sleep`, `invoke`, …",
  "idem.attempt": "which attempt it is, from 1",
  "idem.retry_at": "when the next attempt begins",
  "idem.wait.until": "when the wait is over at the latest",
  "idem.effect.destination": "the system that was written to",
  "idem.effect.entity": "what the effect is about",
  "idem.effect.key": "the key the destination was given",
  "idem.effect.outcome":
    "`sent`, `sent-again`, `recorded` (it had happened, nothing was sent), `found` (by a look-up), `parked` or `failed`",
} as const;

export type SpanAttributeName = keyof typeof spanAttributes;

/** As the API counts them. */
export const spanKinds = { internal: 0, server: 1, client: 2, producer: 3, consumer: 4 } as const;
export type SpanKindName = keyof typeof spanKinds;

export interface DescribedSpan {
  /** Braces are filled in. */
  readonly name: string;
  readonly kind: SpanKindName;
  readonly means: string;
  readonly parent: string;
  readonly attributes: readonly SpanAttributeName[];
}

const ofEvent = [
  "idem.env",
  "messaging.system",
  "messaging.operation.type",
  "messaging.operation.name",
  "messaging.destination.name",
  "messaging.message.id",
  "idem.event.id",
  "error.type",
] as const;
const ofRun = ["idem.env", "idem.function.id", "idem.run.id"] as const;

export const spans = {
  send: {
    name: "send {event}",
    kind: "producer",
    means: "An event is checked, decided and stored, with the runs it starts",
    parent: "what was at work when it was sent; the request's `traceparent`",
    attributes: [...ofEvent, "idem.duplicate_of"],
  },
  receive: {
    name: "receive {event}",
    kind: "consumer",
    means: "The same for a webhook that a provider delivered",
    parent: "the request, by its `traceparent` or the span of your web framework",
    attributes: [...ofEvent, "idem.duplicate_of"],
  },
  tick: {
    name: "tick {function}",
    kind: "producer",
    means: "A schedule's instant has come; made by the process that was first",
    parent: "none: it begins a trace",
    attributes: [...ofEvent, "idem.function.id", "faas.cron", "faas.time"],
  },
  run: {
    name: "run {function}",
    kind: "consumer",
    means:
      "One pass: a process takes the run up and executes it until it ends, waits or is lost. A run that waited has several",
    parent: "the span that sent its event, also days later and in another process",
    attributes: [
      ...ofRun,
      "messaging.system",
      "messaging.operation.type",
      "messaging.operation.name",
      "messaging.destination.name",
      "messaging.message.id",
      "messaging.batch.message_count",
      "faas.trigger",
      "faas.invocation_id",
      "idem.event.id",
      "idem.key",
      "idem.run.outcome",
      "idem.run.rerun_of",
      "idem.run.replayed",
      "error.type",
    ],
  },
  step: {
    name: "step {step}",
    kind: "internal",
    means:
      "One attempt of a step; of one that waits, its beginning. Never made for an outcome that was recorded before",
    parent: "`run`",
    attributes: [
      ...ofRun,
      "idem.step.id",
      "idem.step.kind",
      "idem.attempt",
      "idem.retry_at",
      "idem.wait.until",
      "error.type",
    ],
  },
  effect: {
    name: "effect {destination}",
    kind: "client",
    means: "What an attempt of `step.effect` did to a system outside",
    parent: "`step`",
    attributes: [
      ...ofRun,
      "idem.step.id",
      "idem.attempt",
      "idem.effect.destination",
      "idem.effect.entity",
      "idem.effect.key",
      "idem.effect.outcome",
      "error.type",
    ],
  },
  call: {
    name: "call {function}",
    kind: "client",
    means: "The app that has the code is called; it is given this span as `traceparent`",
    parent: "`run`",
    attributes: [...ofRun, "idem.step.id", "idem.attempt", "http.response.status_code", "error.type"],
  },
  decision: {
    name: "{decision} {function}",
    kind: "internal",
    means:
      "The event started no run of this function: `duplicate-event`, `duplicate-key`, `debounced`, `paused`, … A duplicate is linked to the trace of the run that was first. What a trigger's filter let pass by leaves no span",
    parent: "the span that sent the event",
    attributes: [
      "idem.env",
      "idem.event.id",
      "idem.function.id",
      "idem.key",
      "idem.decision",
      "idem.decision.reason",
      "idem.suppressed_by",
    ],
  },
} as const satisfies Record<string, DescribedSpan>;

export type SpanName = keyof typeof spans;
/** Attributes of a span of this name. */
export type AttributesOf<Name extends SpanName> = Partial<
  Record<(typeof spans)[Name]["attributes"][number], string | number>
>;
