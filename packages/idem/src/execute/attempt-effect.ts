// One attempt of an effect. Its key is claimed, and that is committed, before the first byte leaves; a later attempt learns when it was
// first tried, by the store's clock, also when every process that tried is dead.
//
//   settled ────────────────────────────────────────────────────▶ the recorded value, nothing is sent
//   another run is at it ───────────────────────────────────────▶ later
//   never tried ────────────────────────────────────────────────▶ send
//   tried before ─▶ guard ─┬─ the key is still remembered ──────▶ send, same key
//                          ├─ reconcile ─┬─ found ──────────────▶ recorded
//                          │             ├─ absent ─────────────▶ send, same key
//                          │             └─ unknown ────────────▶ parked
//                          └─ no look-up ───────────────────────▶ parked
import type { AnyDestination } from "../dedup/destination.ts";
import { mayResend } from "../dedup/retention-guard.ts";
import {
  type EffectNote,
  type EffectOutcome,
  effectId,
  effectScope,
  noteText,
  outcomeText,
  readNote,
  readOutcome,
} from "../model/effect.ts";
import { errors } from "../model/errors.ts";
import { toJson } from "../model/json.ts";
import { RetryAfterError } from "../model/user-errors.ts";
import type { EffectContext, ReconcileContext } from "./effect.ts";
import type { Ran } from "./operation.ts";
import type { EffectStore, EffectTrace, RunPorts } from "./ports.ts";

/** The answer of a look-up: the value the effect's callback would have returned, surely nothing, or no answer to the question. */
export type Reconciled<Value = unknown> = { readonly found: Value } | "absent" | "unknown";

export interface EffectAttempt {
  readonly effect: {
    readonly destination: AnyDestination;
    readonly entity: string;
    readonly key: string;
    readonly step: string;
    readonly runId: string;
  };
  /** The same on every attempt of this run: a run that goes on elsewhere need not wait for its own lease. */
  readonly token: string;
  readonly context: EffectContext;
  readonly call: (context: EffectContext) => unknown;
  readonly receipt: (value: unknown) => string | null;
  readonly reconcile: ((context: ReconcileContext) => Reconciled<unknown> | Promise<Reconciled<unknown>>) | null;
  readonly reconcileAfterMs: number;
  readonly store: EffectStore;
  readonly ports: Pick<RunPorts, "now" | "newId">;
  /** Null where nobody listens. */
  readonly trace: EffectTrace | null;
}

// Longer than a request is waited for. It only keeps other runs of the same key away: they would send the same key.
const leaseMs = 5 * 60_000;
// Longer than anybody reruns anything, and long enough to find two invoices of one year.
const windowMs = 365 * 24 * 60 * 60_000;
// A value is kept twice, with the step and here. An object of an API is a few KiB.
const valueBytesMax = 256 * 1024;
const receiptCharsMax = 1_024;

/** Its end, for the trace. */
type Became = "sent" | "sent-again" | "recorded" | "found" | "parked" | "failed";

export function attemptEffect(of: EffectAttempt): Promise<Ran> {
  const { trace } = of;
  const told = { became: "failed" as Became };
  if (trace === null) return attempt(of, told);
  return trace.within(() =>
    attempt(of, told).then(
      (ran) => {
        trace.became(told.became);
        return ran;
      },
      (error) => {
        trace.failed(error, told.became);
        throw error;
      },
    ),
  );
}

async function attempt(of: EffectAttempt, told: { became: Became }): Promise<Ran> {
  const { effect, store, ports } = of;
  const { runId, step, key } = effect;
  const scope = effectScope(effect.destination.name, effect.entity);
  const name = effectId(scope, key);
  const by = ports.newId();
  const first: EffectNote = { runId, step, by, triedAt: ports.now(), tries: 1 };
  const claim = await store.claim({ scope, key, token: of.token, leaseMs, windowMs, note: noteText(first) });
  switch (claim.kind) {
    case "duplicate":
      told.became = "recorded";
      return recorded(name, readOutcome(claim.outcome));
    case "in-flight": {
      const cause = errors.EFFECT_IN_FLIGHT({ effect: name });
      throw new RetryAfterError(cause.message, new Date(claim.leaseUntil ?? ports.now()), { cause });
    }
    case "mismatch":
      // Effects have no fingerprint: the key is made of everything that counts.
      throw new Error(`effect ${name} has a fingerprint`);
    case "fresh":
  }
  const held = new HeldEffect(
    of,
    { scope, key, fence: claim.fence },
    name,
    readNote(claim.note ?? noteText(first)),
    told,
  );
  if (held.note.by === by) return held.send({ isFirst: true });
  return held.again(claim.since);
}

function recorded(effect: string, { value, receipt }: EffectOutcome): Ran {
  if (value !== null) return { json: value };
  throw errors.EFFECT_TOO_LARGE({ effect, receipt, why: "it was not kept when it was sent" });
}

interface Place {
  readonly scope: string;
  readonly key: string;
  readonly fence: number;
}

class HeldEffect {
  constructor(
    private readonly of: EffectAttempt,
    private readonly place: Place,
    private readonly name: string,
    public note: EffectNote,
    private readonly told: { became: Became },
  ) {}

  /** It was tried before, and its outcome was not recorded. */
  async again(firstTriedAt: number): Promise<Ran> {
    const { destination } = this.of.effect;
    const now = this.of.ports.now();
    const hasReconcile = this.of.reconcile !== null;
    switch (mayResend({ destination, firstTriedAt, now, hasReconcile })) {
      case "send":
        return this.resend(now);
      case "park":
        return this.park(
          firstTriedAt,
          `${destination.name} may have forgotten its key since; ${destination.reconcile}`,
        );
      case "reconcile":
        return this.reconcile(firstTriedAt, now);
    }
  }

  private async reconcile(since: number, now: number): Promise<Ran> {
    const { of } = this;
    const surelyFoundAt = this.note.triedAt + of.reconcileAfterMs;
    const { key, signal } = of.context;
    const answer = await this.orLeave(async () => of.reconcile!({ key, since, signal }));
    if (typeof answer === "object" && answer !== null && "found" in answer) {
      this.told.became = "found";
      return this.settle(answer.found, "reconcile");
    }
    if (answer !== "absent") return this.park(since, "the look-up could not tell");
    if (now >= surelyFoundAt) return this.resend(now);
    // An effect sent a moment ago need not be listed yet.
    await this.leave();
    throw new RetryAfterError(
      `The effect ${this.name} was not found, but may not be listed yet`,
      new Date(surelyFoundAt),
    );
  }

  private async resend(now: number): Promise<Ran> {
    const { parked: _, ...note } = this.note;
    // Committed before the first byte, as the first time: the next one to look must know of this try.
    await this.extend(leaseMs, { ...note, triedAt: now, tries: note.tries + 1 });
    return this.send({ isFirst: false });
  }

  async send({ isFirst }: { readonly isFirst: boolean }): Promise<Ran> {
    const { call, context } = this.of;
    let value: unknown;
    try {
      // The claim may have taken longer than the step may: nothing has left yet, and nothing will.
      context.signal.throwIfAborted();
      value = await call(context);
    } catch (error) {
      // Of a later try it says nothing about the first.
      if (isFirst && isRefusal(error)) await this.of.store.release({ ...this.place, reason: "refused" });
      else await this.leave();
      throw error;
    }
    this.told.became = isFirst ? "sent" : "sent-again";
    return this.settle(value, "answer");
  }

  private async settle(value: unknown, by: EffectOutcome["by"]): Promise<Ran> {
    const { of, place, name } = this;
    const { runId, step } = of.effect;
    const receipt = this.receiptOf(value);
    const kept = keptOf(value, step);
    const { tries } = this.note;
    const at = of.ports.now();
    const text = outcomeText({ runId, step, receipt, value: kept.json, by, at, tries });
    if ((await of.store.settle(place.scope, place.key, place.fence, text)) === "lost") await this.settleAnew(text);
    if (kept.json === null) throw errors.EFFECT_TOO_LARGE({ effect: name, receipt, why: kept.why });
    return { json: kept.json };
  }

  /** Given back meanwhile, by a person or by a twin of this run: it has happened all the same, and that must be on record. */
  private async settleAnew(text: string): Promise<void> {
    const { of, place, note, name } = this;
    const { scope, key } = place;
    const claim = await of.store.claim({ scope, key, token: of.token, leaseMs, windowMs, note: noteText(note) });
    if (claim.kind === "fresh") await of.store.settle(scope, key, claim.fence, text);
    // Another run sends the same key, and will record what the destination answers to it.
    else if (claim.kind === "in-flight") of.store.report(`effect ${name} happened; another run has it and records it`);
  }

  private async park(since: number, why: string): Promise<never> {
    this.told.became = "parked";
    await this.extend(0, { ...this.note, parked: why });
    const error = errors.OUTCOME_UNKNOWN({ effect: this.name, since, why });
    this.of.store.report(error.message);
    throw error;
  }

  /** Others may have it at once; when it was tried stays known. */
  private async leave(): Promise<void> {
    const { place, note } = this;
    await this.of.store.extend({ ...place, leaseMs: 0, note: noteText(note) });
  }

  private async extend(ms: number, note: EffectNote): Promise<void> {
    const answer = await this.of.store.extend({ ...this.place, leaseMs: ms, note: noteText(note) });
    if (answer === "lost") throw errors.EFFECT_IN_FLIGHT({ effect: this.name });
    this.note = note;
  }

  private async orLeave<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      await this.leave();
      throw error;
    }
  }

  private receiptOf(value: unknown): string | null {
    try {
      return this.of.receipt(value)?.slice(0, receiptCharsMax) ?? null;
    } catch (error) {
      // It has happened; that its receipt cannot be read must not make it happen again.
      this.of.store.report(`effect ${this.name}: its receipt could not be read: ${String(error)}`);
      return null;
    }
  }
}

function keptOf(value: unknown, step: string): { json: string } | { json: null; why: string } {
  try {
    const json = toJson(value, `Step "${step}"`);
    const bytes = Buffer.byteLength(json);
    return bytes <= valueBytesMax
      ? { json }
      : { json: null, why: `it has ${bytes} bytes of JSON, more than ${valueBytesMax}` };
  } catch (error) {
    return { json: null, why: error instanceof Error ? error.message : String(error) };
  }
}

// Timeout, conflict, too early and too many: of these the destination may mean another request with this key, or try itself.
const undecided = new Set([408, 409, 425, 429]);

/** An answer that says: nothing was done. What never answered is no refusal. */
function isRefusal(error: unknown): boolean {
  for (const each of [error, (error as { cause?: unknown } | null)?.cause]) {
    if (typeof each !== "object" || each === null) continue;
    const { status, statusCode } = each as { status?: unknown; statusCode?: unknown };
    const code = typeof status === "number" ? status : statusCode;
    if (typeof code === "number" && code >= 400 && code < 500 && !undecided.has(code)) return true;
  }
  return false;
}
