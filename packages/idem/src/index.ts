/**
 * Durable functions whose first principle is idempotency.
 *
 * ```ts
 * const idem = new Idem({ id: "shop" });
 * idem.createFunction(
 *   { id: "draft-invoice", idempotency: "event.data.placementId" },
 *   { event: "bullhorn/placement.event" },
 *   async ({ event, step }) => step.run("draft", ({ key }) => stripe.invoices.create({}, { idempotencyKey: key })),
 * );
 * await idem.start();
 * await idem.send({ name: "bullhorn/placement.event", data: { placementId: 7 } });
 * ```
 */

export type {
  AnyDestination,
  CustomDestination,
  Destination,
  KeyCharset,
  KeylessDestination,
  KeyMismatch,
  KeyOf,
  KeyPlace,
} from "./dedup/destination.ts";
export {
  type DestinationName,
  destination,
  destinationNames,
  type KeyedName,
  type KeylessName,
} from "./dedup/destinations.ts";
export { type MayResend, mayResend, resendsWithinMs } from "./dedup/retention-guard.ts";
export type { Swept } from "./engine/sweep.ts";
export type { Listener } from "./engine/telling.ts";
export type { Reconciled } from "./execute/attempt-effect.ts";
export type { EffectContext, EffectOptions, ReconcileContext } from "./execute/effect.ts";
export type { Logger, Middleware } from "./execute/function-code.ts";
export type { LogStyle } from "./execute/log-style.ts";
export type { Backoff } from "./execute/retry.ts";
export type { LimitedStepOptions, StepOptions } from "./execute/step-name.ts";
export type { StepContext } from "./execute/step-tools.ts";
export type { UserDatabase } from "./execute/user-transaction.ts";
export type { BatchOptions } from "./flow/batch/config.ts";
export type { CancelOnOptions } from "./flow/cancel-on/config.ts";
export type { ConcurrencyOptions } from "./flow/concurrency/config.ts";
export type { DebounceOptions } from "./flow/debounce/config.ts";
export type { RateLimitOptions } from "./flow/rate-limit/config.ts";
export type { SingletonOptions } from "./flow/singleton/config.ts";
export type { ThrottleOptions } from "./flow/throttle/config.ts";
export type { DecisionKind } from "./model/decision.ts";
export type { Effect, EffectState } from "./model/effect.ts";
export { type ErrorCode, IdemError } from "./model/errors.ts";
export type { EndState, RunState } from "./model/run.ts";
export type { Tidings, TidingsKind, TidingsOf } from "./model/tidings.ts";
export { NonRetriableError, RetryAfterError, type SerializedError, StepError } from "./model/user-errors.ts";
export { Idem } from "./sdk/client.ts";
export type { IdemOptions, SendInTransaction, SendOptions, SweepOptions } from "./sdk/client-options.ts";
export type { DoubledEffects, EffectsApi, EffectsFilter, EffectVerdict } from "./sdk/effects-api.ts";
export type { EventSchemas, EventToSend, ReceivedEvent, SentEvent, Untyped } from "./sdk/event-types.ts";
export type { EventStory, Explain, KeyStory, PendingStory, RunStory, Tell, Told } from "./sdk/explain-api.ts";
export type {
  CronInput,
  EndContext,
  EndData,
  EventInput,
  FunctionOptions,
  HandlerContext,
  IdemFunction,
  IdempotencyOptions,
  TriggerInput,
  UnkeyedOptions,
} from "./sdk/function-types.ts";
export type { FunctionsApi, Paused, PublicFunction, Resumed, ResumeOptions } from "./sdk/functions-api.ts";
export type { DashboardCaller, DashboardHandler, DashboardOptions, DashboardRole } from "./sdk/open-dashboard.ts";
export type { PublicDecision, PublicEvent, PublicRun } from "./sdk/public-types.ts";
export type { EventsApi, RunDetail, RunEnd, RunsApi, RunsFilter, VerdictOptions } from "./sdk/reads-api.ts";
export type { QueuedResult, SendResult } from "./sdk/send-result.ts";
export type { Invocable, Jsonify, TypedStepTools } from "./sdk/typed-step-tools.ts";
export type { UserTransaction } from "./store/outbox.ts";
export type { Store } from "./store/store.ts";
export type { TransactionClient } from "./store/transactional.ts";
export type { StoryAsked } from "./stories/answer-story.ts";
export type {
  Story,
  StoryAnswer,
  StoryFact,
  StoryGate,
  StoryHit,
  StoryNoun,
  StorySubject,
  StoryThing,
  StoryTodo,
} from "./stories/story.ts";
