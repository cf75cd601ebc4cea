// The calls that this process executes or has executed, so that none of them reaches user code twice. A signature holds for five minutes and
// covers the body alone: an attacker who captured a call can send it again for that long (docs/reference/wire.md#replayed-calls).
//
// An Idem server numbers its calls in what it signs: the fence of the run's lease, and a request id that only grows under one fence. Calls for
// whatever comes next follow each other, as do those for one step alone, so one number for each of these says which are stale. Of other servers
// the signature itself is remembered.
import { signatureMsMax } from "../protocol/request-signature.ts";

/** A call's place among the calls of its run, from its signed body. */
export interface CallNumber {
  readonly runId: string;
  /** The step that is requested alone; null for whatever comes next. */
  readonly target: string | null;
  /** The fence of the lease that the call was made under. */
  readonly generation: number;
  /** A ULID. */
  readonly requestId: string;
}

/** Hexadecimal digits; `t` is its time in seconds. */
export interface CallSignature {
  readonly s: string;
  readonly t: number;
}

interface SeenRun {
  kind: "run";
  t: number;
  generation: number;
  /** The newest request id for whatever comes next. */
  next: string | null;
  /** The same for each step that was requested alone. Most runs have none, and a map takes 200 bytes. */
  steps: Map<string, string> | null;
}

interface SeenSignature {
  kind: "signature" | "own";
  t: number;
}

// About 300 bytes each, 15 MB in all. 166 runs a second fill it in five minutes.
export const callsMax = 50_000;

export class SeenCalls {
  private readonly seen = new Map<string, SeenRun | SeenSignature>();
  /** The entries by the time of their latest signature, with which they expire. There are at most 601 such seconds. */
  private readonly bySecond = new Map<number, Set<string>>();
  /** Request ids and signatures. */
  private count = 0;
  /** Signatures up to this second are no longer remembered one by one. */
  private floor = Number.NEGATIVE_INFINITY;
  /** The second in which expired entries were last looked for. */
  private expiredAt = Number.NaN;

  constructor(private readonly max = callsMax) {}

  /** Null if the call may be executed, and from then on it is remembered; otherwise the reason. `signature` is null in dev. */
  admit(number: CallNumber | null, signature: CallSignature | null, nowMs: number): string | null {
    this.forgetExpired(nowMs);
    const t = signature?.t ?? Math.floor(nowMs / 1_000);
    if (number === null && signature === null) return null;
    const stale = number === null ? this.takeSignature(signature!) : this.takeNumber(number, t);
    if (stale === null) this.keepToMax();
    return stale;
  }

  /** The signature of an answer, which holds for a request with the same bytes as well. */
  noteOwn({ s, t }: CallSignature, nowMs: number): void {
    this.forgetExpired(nowMs);
    this.enter(s.toLowerCase(), { kind: "own", t });
    this.keepToMax();
  }

  isOwn(s: string): boolean {
    return this.seen.get(s.toLowerCase())?.kind === "own";
  }

  private takeSignature({ s, t }: CallSignature): string | null {
    const name = s.toLowerCase();
    if (this.seen.has(name)) return "a call with this signature was here before";
    if (t <= this.floor) return forgotten;
    this.enter(name, { kind: "signature", t });
    return null;
  }

  private takeNumber({ runId, target, generation, requestId }: CallNumber, t: number): string | null {
    const found = this.seen.get(runId);
    const run = found?.kind === "run" ? found : null;
    if (run === null && t <= this.floor) return forgotten;
    if (run !== null && generation < run.generation) {
      return `it was made under fence ${generation}, and one under fence ${run.generation} was here`;
    }
    const newest = run === null || run.generation < generation ? null : newestOf(run, target);
    if (newest !== null && requestId <= newest) {
      return requestId === newest ? "it was here before" : `a newer one, ${newest}, was here`;
    }
    if (run === null) {
      this.enter(runId, noteNewest({ kind: "run", t, generation, next: null, steps: null }, target, requestId));
      return null;
    }
    this.count -= sizeOf(run);
    if (generation > run.generation) Object.assign(run, { generation, next: null, steps: null });
    this.count += sizeOf(noteNewest(run, target, requestId));
    if (t > run.t) {
      this.second(run.t).delete(runId);
      run.t = t;
      this.second(t).add(runId);
    }
    return null;
  }

  private enter(name: string, entry: SeenRun | SeenSignature): void {
    if (this.seen.has(name)) return;
    this.seen.set(name, entry);
    this.second(entry.t).add(name);
    this.count += sizeOf(entry);
  }

  private second(t: number): Set<string> {
    let names = this.bySecond.get(t);
    if (names === undefined) {
      names = new Set();
      this.bySecond.set(t, names);
    }
    return names;
  }

  private forgetExpired(nowMs: number): void {
    const now = Math.floor(nowMs / 1_000);
    if (now === this.expiredAt) return;
    this.expiredAt = now;
    for (const t of this.bySecond.keys()) if (nowMs - t * 1_000 > signatureMsMax) this.forget(t);
  }

  /** The oldest signatures go first, and every call that was signed as long ago is refused from then on: forgetting admits none again. */
  private keepToMax(): void {
    while (this.count > this.max) {
      const oldest = Math.min(...this.bySecond.keys());
      this.forget(oldest);
      this.floor = Math.max(this.floor, oldest);
    }
  }

  private forget(t: number): void {
    for (const name of this.bySecond.get(t) ?? []) {
      const entry = this.seen.get(name)!;
      this.count -= sizeOf(entry);
      this.seen.delete(name);
    }
    this.bySecond.delete(t);
  }
}

const sizeOf = (entry: SeenRun | SeenSignature): number =>
  entry.kind === "run" ? (entry.next === null ? 0 : 1) + (entry.steps?.size ?? 0) : 1;

const newestOf = ({ next, steps }: SeenRun, target: string | null): string | null =>
  target === null ? next : (steps?.get(target) ?? null);

function noteNewest(run: SeenRun, target: string | null, requestId: string): SeenRun {
  if (target === null) {
    run.next = requestId;
  } else {
    run.steps ??= new Map();
    run.steps.set(target, requestId);
  }
  return run;
}

const forgotten = "more calls than can be remembered were signed after it";
