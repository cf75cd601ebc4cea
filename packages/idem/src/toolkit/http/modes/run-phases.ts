// Runs a list of phases from its last recovery point to its end, for a request or for a completer. Every write carries the fence: an
// attempt that was taken over writes nothing more, neither here nor in the user's tables.

import { errors } from "../../../model/errors.ts";
import type { Platform } from "../../../platform/platform.ts";
import type { Held } from "../../claim/decide-claim.ts";
import { keepLease } from "../../claim/keep-lease.ts";
import { completeKey, reachPoint } from "../../keys/key-operations.ts";
import type { KeyHolder, KeyStore, Point } from "../../keys/key-store.ts";
import type { Adapter, SyncAdapter } from "../../sql/adapter.ts";
import { sqlFaultOf, wordsOfFault } from "../../sql/faults.ts";
import { type Operation, sqlOf } from "../../sql/operation.ts";
import {
  asBody,
  asBodySync,
  closedInTime,
  closeInTime,
  openInTime,
  ownError,
  untilKept,
} from "./attempt-transaction.ts";
import { beforeSending } from "./before-sending.ts";
import { type PhaseState, pointOf, positionOf, stateOf } from "./phase-state.ts";
import type { AnyPhases, Phase } from "./phases.ts";
import { Answer, Final, outcomeOf, respond } from "./respond.ts";
import type { WithinLimits } from "./within.ts";

export interface PhaseWork {
  readonly holder: KeyHolder;
  readonly attempt: number;
  /** As it was stored. */
  readonly input: unknown;
  readonly point: Point | null;
}

export interface PhaseWorld {
  readonly keys: KeyStore;
  readonly platform: Platform;
  readonly leaseMs: number;
  readonly limits: WithinLimits;
  readonly maxTxMs: number;
  readonly lockMs: number;
}

export type PhasesEnd =
  | { readonly kind: "ended"; readonly answer: Answer }
  /** Somebody else goes on with it. */
  | { readonly kind: "lost" }
  | { readonly kind: "parked"; readonly reason: string }
  /** For a retry or a completer, at the last point. */
  | { readonly kind: "left"; readonly error: unknown };

/** After a failure a completer looks again, later each time; a client that asks again does not have to wait for it. */
const backoffFirstMs = 5_000;
const backoffMaxMs = 3_600_000;
export const backoffMs = (attempt: number): number => Math.min(backoffMaxMs, backoffFirstMs * 2 ** (attempt - 1));

export async function runPhases(phases: AnyPhases, work: PhaseWork, world: PhaseWorld): Promise<PhasesEnd> {
  const { keys, platform, leaseMs } = world;
  const lease = keepLease(platform, leaseMs, () => keys.heartbeat(work.holder, leaseMs));
  try {
    return await goOn(phases, work, world, lease.signal);
  } catch (error) {
    const own = ownError(error);
    try {
      if (own instanceof Final) return await end(work, world, own.answer);
      if ((await keys.leave(work.holder, backoffMs(work.attempt))) === "lost") return { kind: "lost" };
    } catch (away) {
      // The store: the lease ends by itself, and the work is found then.
      if (own instanceof Final) return { kind: "left", error: away };
    }
    return { kind: "left", error };
  } finally {
    lease.end();
  }
}

async function goOn(phases: AnyPhases, work: PhaseWork, world: PhaseWorld, signal: AbortSignal): Promise<PhasesEnd> {
  const position = positionOf(phases, work.point);
  if (position.kind === "unknown") return park(work, world, position.why);
  let state = stateOf(work.point);
  for (let i = position.index; i < phases.list.length; i++) {
    if (signal.aborted) return { kind: "lost" };
    const phase = phases.list[i]!;
    const isLast = i === phases.list.length - 1;
    const step = { phases, work, world, state, signal, isLast };
    const moved = phase.kind === "atomic" ? await atomically(phase, step) : await outside(phase, step);
    if (moved.kind !== "on") return moved;
    state = moved.state;
  }
  // Only a list without phases, or one that was shortened to its last point, comes here.
  return end(work, world, respond(204));
}

interface Step {
  readonly phases: AnyPhases;
  readonly work: PhaseWork;
  readonly world: PhaseWorld;
  readonly state: PhaseState;
  readonly signal: AbortSignal;
  readonly isLast: boolean;
}

type Moved = PhasesEnd | { readonly kind: "on"; readonly state: PhaseState };

/** As it will be read after a crash; the last phase's value is the answer where it gave none. */
function settled(name: string, value: unknown, { state, isLast }: Step): Answer | PhaseState {
  if (value instanceof Answer) return value;
  if (isLast) return value === undefined || value === null ? respond(204) : respond(200, value);
  const { [name]: _, ...tried } = state.tried;
  return { done: { ...state.done, [name]: JSON.parse(JSON.stringify(value ?? null)) }, tried };
}

const knownTo = ({ work, state }: Step): Record<string, unknown> & { readonly attempt: number } => ({
  ...state.done,
  input: work.input,
  attempt: work.attempt,
});

async function atomically(phase: Extract<Phase<unknown>, { kind: "atomic" }>, step: Step): Promise<Moved> {
  const { phases, work, world } = step;
  const { adapter } = phases;
  const { platform } = world;
  const sql = sqlOf(adapter.dialect);
  const facts = (late: AbortSignal) => ({ ...knownTo(step), signal: AbortSignal.any([late, step.signal]) });
  const run = (tx: unknown, late: AbortSignal) => phase.body(tx, facts(late));
  /** The user's rows, the point and the fence in one commit. */
  function* closing(next: Answer | PhaseState): Operation<Held> {
    try {
      if (!(next instanceof Answer)) {
        return yield* reachPoint(sql, work.holder, pointOf(phases.list, next), world.leaseMs);
      }
      return yield* completeKey(sql, work.holder, outcomeOf(next, world.limits), world.limits.windowMs);
    } catch (error) {
      if (sqlFaultOf(error) !== "aborted") throw error;
      throw errors.TRANSACTION_ABORTED({ why: wordsOfFault(error) }, { cause: error });
    }
  }
  const settle = (value: unknown): Answer | PhaseState => {
    const next = settled(phase.name, value, step);
    if (next instanceof Answer && next.isRolledBack) throw new Undone(next);
    return next;
  };
  try {
    const next = await untilKept(
      () =>
        openInTime(adapter, platform, world.lockMs, (tx): (Answer | PhaseState) | Promise<Answer | PhaseState> => {
          if (isSync(adapter)) {
            const value = settle(asBodySync(() => closedInTime(world.maxTxMs, platform, (late) => run(tx, late))));
            return kept(value, adapter.performSync(tx, closing(value)));
          }
          return asBody(() => closeInTime(world.maxTxMs, platform, async (late) => run(tx, late))).then(
            async (given) => {
              const value = settle(given);
              return kept(value, await adapter.wrap(tx).perform(closing(value)));
            },
          );
        }),
      platform,
    );
    return next instanceof Answer ? { kind: "ended", answer: next } : { kind: "on", state: next };
  } catch (error) {
    if (error instanceof Undone) return end(work, world, error.answer);
    if (error instanceof TakenOver) return { kind: "lost" };
    throw error;
  }
}

async function outside(phase: Extract<Phase<unknown>, { kind: "effect" }>, step: Step): Promise<Moved> {
  const { phases, work, world, signal } = step;
  const { keys, platform, leaseMs } = world;
  const tried = step.state.tried[phase.name] ?? null;
  const now = platform.wallMs();
  const known = { ...knownTo(step), signal };
  const before = await asBody(() => beforeSending(phase, known, { recordId: work.holder.id, tried, now }));
  if (before.kind === "park") return park(work, world, before.reason);
  let { state } = step;
  if (before.kind === "send" && phase.repeat.repeatable !== true) {
    state = { ...state, tried: { ...state.tried, [phase.name]: { first: tried?.first ?? now, last: now } } };
    if ((await keys.reach(work.holder, pointOf(phases.list, state), leaseMs)) === "lost") return { kind: "lost" };
  }
  const value = before.kind === "send" ? await asBody(async () => phase.body(before.facts as never)) : before.value;
  const next = settled(phase.name, value, { ...step, state });
  if (next instanceof Answer) return end(work, world, next);
  const held = await keys.reach(work.holder, pointOf(phases.list, next), leaseMs);
  return held === "lost" ? { kind: "lost" } : { kind: "on", state: next };
}

async function end({ holder }: PhaseWork, { keys, limits }: PhaseWorld, answer: Answer): Promise<PhasesEnd> {
  const held = await keys.complete(holder, outcomeOf(answer, limits), limits.windowMs);
  return held === "held" ? { kind: "ended", answer } : { kind: "lost" };
}

async function park({ holder }: PhaseWork, { keys }: PhaseWorld, reason: string): Promise<PhasesEnd> {
  return (await keys.park(holder, reason)) === "held" ? { kind: "parked", reason } : { kind: "lost" };
}

/** Undoes the transaction: somebody else has the key, and perhaps has done this phase. */
class TakenOver extends Error {}

/** Carries an answer out of a transaction that is to be undone. */
class Undone extends Error {
  constructor(readonly answer: Answer) {
    super("undone");
  }
}

function kept<T>(value: T, held: Held): T {
  if (held === "lost") throw new TakenOver();
  return value;
}

const isSync = <Tx>(adapter: Adapter<Tx>): adapter is SyncAdapter<Tx> => adapter.bodies === "sync";
