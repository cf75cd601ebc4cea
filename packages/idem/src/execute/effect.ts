// step.effect: a call to a system outside, recorded: what was sent where, under which key, and the receipt.
import type { AnyDestination, Destination } from "../dedup/destination.ts";
import { type DestinationOf, destinationKey } from "../dedup/destination-key.ts";
import { type DestinationName, destination as destinationOf, type KeylessName } from "../dedup/destinations.ts";
import { reconcileAfterMsDefault } from "../dedup/retention-guard.ts";
import { parseDuration } from "../model/duration.ts";
import type { EffectAsked } from "../model/effect.ts";
import { errors } from "../model/errors.ts";
import { refuseUnknown } from "../model/known-options.ts";
import { inputText } from "../model/step-input.ts";
import { attemptEffect, type EffectAttempt, type Reconciled } from "./attempt-effect.ts";
import type { Pass } from "./pass.ts";
import type { RunPorts } from "./ports.ts";
import { type LimitedIdInput, limitedId } from "./step-name.ts";

/** The context of an effect's callback. */
export interface EffectContext {
  /** The key as the destination takes it; for one without keys, a mark to look the effect up by. */
  readonly key: string;
  /** The key as a header of the request; empty where the destination takes it elsewhere. */
  readonly headers: Record<string, string>;
  /** The key as a field of the request's body; empty where it is a header. */
  readonly fields: Record<string, string>;
  /** Counted from 1. */
  readonly attempt: number;
  /** Entries into it in a row, this one included. */
  readonly entered: number;
  /** Aborts when the step's time is over, and when the run is cancelled or this process lost it. */
  readonly signal: AbortSignal;
}

export interface ReconcileContext {
  readonly key: string;
  /** When the effect was first tried, in milliseconds; nothing of it is older. */
  readonly since: number;
  readonly signal: AbortSignal;
}

export interface EffectOptionsOf<Value> {
  /** The thing the effect is about, an order's id say: two effects for one entity can be found. */
  readonly entity: string;
  /** The account at the destination, where a function writes to several: part of the key. */
  readonly account?: string;
  /** Picks the receipt out of the value; its `id` by default. */
  readonly receipt?: (value: Value) => string | null;
  /**
   * Asked when the destination may have forgotten the key: whether the effect happened. Only what it surely did not find is sent again;
   * without it such an effect is parked, for a person to say.
   */
  readonly reconcile?: (context: ReconcileContext) => Reconciled<Value> | Promise<Reconciled<Value>>;
  /** The time after a try from which the look-up surely finds what it did: "60s" by default. */
  readonly reconcileAfter?: string | number;
}

export type EffectOptions<Value> = EffectOptionsOf<Value> &
  (
    | { readonly destination: Exclude<DestinationName, KeylessName> | Destination }
    /** Without a key nothing else distinguishes a second try from the first. */
    | {
        readonly destination: KeylessName | AnyDestination;
        readonly reconcile: NonNullable<EffectOptionsOf<Value>["reconcile"]>;
      }
  );

// Scopes are part of an index.
const entityCharsMax = 200;

const knownOptions = {
  destination: true,
  entity: true,
  account: true,
  receipt: true,
  reconcile: true,
  reconcileAfter: true,
} as const;

export function recordedEffect(of: {
  readonly pass: Pass;
  readonly ports: RunPorts;
  readonly run: DestinationOf;
  readonly runId: string;
  readonly warnOnce: (message: string) => void;
}) {
  const { pass, ports, run, runId, warnOnce } = of;
  return (
    id: LimitedIdInput,
    options: EffectOptions<unknown>,
    call: (context: EffectContext) => unknown,
  ): Promise<unknown> => {
    const { step, asked: named, limitMs } = limitedId(id, warnOnce);
    const { effects } = ports;
    if (effects === undefined) throw errors.EFFECT_UNSUPPORTED({ call: `step.effect("${step}")` });
    const wrong = (why: string) => errors.STEP_INVALID({ step, why });
    if (typeof call !== "function") throw wrong("step.effect needs a function");
    refuseUnknown<EffectOptions<unknown>>(`step.effect("${step}")`, options, knownOptions);
    const { entity, account, receipt, reconcile = null } = options ?? {};
    if (typeof entity !== "string" || entity === "" || entity.length > entityCharsMax) {
      throw wrong(`step.effect needs an entity, a text of 1 to ${entityCharsMax} characters: what the effect is about`);
    }
    const destination = readDestination(options.destination, wrong);
    if (destination.place === null && reconcile === null) {
      throw wrong(
        `${destination.name} takes no key, so step.effect needs a reconcile function; ${destination.reconcile}`,
      );
    }
    const afterMs =
      options.reconcileAfter === undefined
        ? reconcileAfterMsDefault
        : parseDuration(options.reconcileAfter, "reconcileAfter");
    let asked: string | null = null;
    return pass.request("effect", named, (ids) => ({
      kind: "attempt",
      limitMs,
      input: () => asked,
      run: async (facts) => {
        const own = destinationKey(run, ids.name, ids.repeat);
        const isKeyed = destination.place !== null;
        const key = isKeyed ? destination.key(own, account) : own;
        // By these its claim is found again.
        asked = inputText({ destination: destination.name, entity, key } satisfies EffectAsked);
        const attempt: EffectAttempt = {
          effect: { destination, entity, key, step: ids.repeat === 0 ? ids.name : `${ids.name}:${ids.repeat}`, runId },
          token: `${runId}/${ids.stepId}`,
          context: {
            key,
            headers: isKeyed ? destination.headers(own, account) : {},
            fields: isKeyed ? destination.fields(own, account) : {},
            attempt: facts.attempt,
            entered: facts.entered,
            get signal() {
              return facts.signal();
            },
          },
          call,
          receipt: receipt ?? receiptOf,
          reconcile,
          reconcileAfterMs: afterMs,
          store: effects,
          ports,
          trace: facts.trace?.effect({ destination: destination.name, entity, key }) ?? null,
        };
        // An answer that comes too late is kept with the effect all the same: the next attempt receives it and sends nothing.
        return facts.within(() => attemptEffect(attempt));
      },
    }));
  };
}

function readDestination(given: unknown, wrong: (why: string) => Error): AnyDestination {
  if (typeof given === "string") return destinationOf(given as DestinationName);
  if (typeof given === "object" && given !== null && "place" in given) return given as AnyDestination;
  throw wrong("step.effect needs a destination: the name of one, or destination({ name, … })");
}

function receiptOf(value: unknown): string | null {
  const id = (value as { id?: unknown } | null | undefined)?.id;
  return typeof id === "string" || typeof id === "number" ? String(id) : null;
}
