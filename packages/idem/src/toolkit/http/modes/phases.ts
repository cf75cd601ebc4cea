// Mode B: a request as a list of named phases, with a recovery point behind each. A phase is either one transaction (`atomic`) or one
// call to the outside (`effect`), never both, so that after a crash at most one effect is repeated, always with the same key.
//
// A name is permanent: unfinished records know the point they reached by it.

import type { CustomDestination, Destination } from "../../../dedup/destination.ts";
import type { KeyedName, KeylessName } from "../../../dedup/destinations.ts";
import type { Reconciled } from "../../../execute/attempt-effect.ts";
import { errors } from "../../../model/errors.ts";
import { refuseUnknown } from "../../../model/known-options.ts";
import type { Adapter } from "../../sql/adapter.ts";
import type { InputOf } from "./read-input.ts";
import type { Answer } from "./respond.ts";

/** Known to a phase: the input, and by their names the answers of the phases before it, as JSON keeps them. */
export type Known<Input, Done> = { readonly input: Input } & Readonly<Done>;

export interface PhaseContext {
  /** From 1; more than one when an earlier attempt died or was left for later. */
  readonly attempt: number;
  /** Aborts when somebody else goes on with this request, and when a transaction is open for too long. */
  readonly signal: AbortSignal;
}

export interface PhaseEffectContext extends PhaseContext {
  /** For the destination: the same on every attempt of this request, another for every phase. */
  readonly key: string;
  /** The same as a header, where the destination takes it as one. */
  readonly headers: Readonly<Record<string, string>>;
}

/** The result of looking up an effect that may have happened. `unknown` is for a person to decide. */

export type Reconcile<Facts, Value> = (
  facts: Facts & PhaseEffectContext & { readonly since: number },
) => Reconciled<Value> | Promise<Reconciled<Value>>;

/** Why it is no harm when the effect is called again: one of the three has to be said. */
export type Repeat<Facts, Value> =
  /** It knows the key again, for as long as it remembers it; beyond that `reconcile` looks, or a person does. */
  | {
      readonly destination: KeyedName | Destination | CustomDestination;
      /** Whose account of the destination it is for, where there are several. */
      readonly account?: string;
      readonly reconcile?: Reconcile<Facts, Value>;
      /** This long after a try, `reconcile` surely finds what it did: "60s" by default. Before that, `absent` waits. */
      readonly reconcileAfter?: string | number;
      readonly repeatable?: never;
    }
  /** It takes no key, or nobody knows it: what may have happened is looked up before it is done again. */
  | {
      readonly destination?: KeylessName;
      readonly reconcile: Reconcile<Facts, Value>;
      readonly reconcileAfter?: string | number;
      readonly repeatable?: never;
    }
  /** Doing it twice is the same as doing it once. */
  | {
      readonly repeatable: true;
      readonly destination?: never;
      readonly reconcile?: never;
      readonly reconcileAfter?: never;
    };

export type Phase<Tx> =
  | {
      readonly kind: "atomic";
      readonly name: string;
      readonly body: (tx: Tx, facts: Record<string, unknown>) => unknown;
    }
  | {
      readonly kind: "effect";
      readonly name: string;
      readonly repeat: Repeat<never, unknown>;
      readonly body: (facts: never) => unknown;
    };

type Value<T> = Exclude<Awaited<T>, Answer>;

/** Without a type for its results, as a door or a completer sees it. */
// biome-ignore lint/suspicious/noExplicitAny: of whichever database, for which the language has no other word
export interface AnyPhases<Tx = any> {
  readonly name: string;
  readonly adapter: Adapter<Tx>;
  /** Stored with the key, as JSON: it holds all that the phases need of the request. */
  readonly input: InputOf<unknown>;
  readonly list: readonly Phase<Tx>[];
}

export class Phases<Tx, Input, Done> implements AnyPhases<Tx> {
  constructor(
    readonly name: string,
    readonly adapter: Adapter<Tx>,
    readonly input: InputOf<Input>,
    readonly list: readonly Phase<Tx>[],
  ) {}

  /** Writes of this database, and the point, in one commit. An answer of `respond` ends the list. */
  atomic<const Name extends string, T>(
    name: Name,
    body: (tx: Tx, facts: Known<Input, Done> & PhaseContext) => T,
  ): Phases<Tx, Input, Done & { [N in Name]: Value<T> }> {
    if (this.adapter.bodies === "sync" && isAsync(body)) throw errors.TRANSACTION_ASYNC({ call: `atomic("${name}")` });
    return this.with({ kind: "atomic", name, body: body as Extract<Phase<Tx>, { kind: "atomic" }>["body"] });
  }

  /** One call to the outside, with no transaction open. Its answer is kept as soon as it is there. */
  effect<const Name extends string, T>(
    name: Name,
    repeat: Repeat<Known<Input, Done>, Value<NoInfer<T>>>,
    body: (facts: Known<Input, Done> & PhaseEffectContext) => T,
  ): Phases<Tx, Input, Done & { [N in Name]: Value<T> }> {
    const given = repeat as Partial<Record<keyof Repeat<unknown, unknown>, unknown>> | undefined;
    if (given?.destination === undefined && given?.reconcile === undefined && given?.repeatable !== true) {
      throw this.refuse(`effect "${name}" does not say why it may be repeated: destination, reconcile or repeatable`);
    }
    return this.with({ kind: "effect", name, repeat: repeat as Repeat<never, unknown>, body });
  }

  private with<More>(phase: Phase<Tx>): Phases<Tx, Input, More> {
    if (!/^[A-Za-z][A-Za-z0-9_-]{0,63}$/.test(phase.name) || reserved.has(phase.name)) {
      throw this.refuse(`"${phase.name}" cannot name a phase`);
    }
    if (this.list.some(({ name }) => name === phase.name)) throw this.refuse(`two phases are named "${phase.name}"`);
    return new Phases(this.name, this.adapter, this.input, [...this.list, phase]);
  }

  private refuse(why: string) {
    return errors.PHASES_INVALID({ phases: this.name, why });
  }
}

/** Names of what every phase is given beside the results. */
const reserved: ReadonlySet<string> = new Set(["input", "key", "headers", "attempt", "signal", "since"]);

const isAsync = (body: unknown): boolean => Object.prototype.toString.call(body) === "[object AsyncFunction]";

/**
 * A list of phases, to be handed to `phased` and to a `completer`.
 *
 * ```ts
 * const createRide = phases("create-ride", { adapter, input: RideInput })
 *   .atomic("ride", async (tx, { input }) => ({ id: await insertRide(tx, input) }))
 *   .effect("charge", { destination: "stripe" }, ({ ride, key }) => stripe.charges.create(of(ride), { idempotencyKey: key }))
 *   .atomic("receipt", async (tx, { charge }) => respond(201, await insertReceipt(tx, charge)));
 * ```
 */
export function phases<Tx, Input>(
  name: string,
  options: { readonly adapter: Adapter<Tx>; readonly input: InputOf<Input> },
): Phases<Tx, Input, unknown> {
  refuseUnknown<typeof options>(`phases("${name}")`, options, { adapter: true, input: true });
  const { adapter, input } = options;
  if (!/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/.test(name)) {
    throw errors.PHASES_INVALID({ phases: name, why: "its name must be 1 to 64 letters, digits, dots and dashes" });
  }
  return new Phases(name, adapter, input, []);
}
