// The right to execute one request once, and the duty to record what came of it.
//
//   store ──▶ complete ─┬─ held ──▶ send, `executed`
//   release, leave, park┘├ lost ──▶ somebody else has the key: what they recorded, or 409
//                        └ the store fails until the lease is nearly over ──▶ send, `unstored`
import type { Platform } from "../../platform/platform.ts";
import { callWithin, pause } from "../call-within.ts";
import type { Held } from "../claim/decide-claim.ts";
import { keepLease } from "../claim/keep-lease.ts";
import type { KeyHolder, KeyStore } from "../keys/key-store.ts";
import type { Captured, Finished, KeyEvent, KeyedRequest, Ticket, Verdict } from "./begin.ts";
import { keyContext } from "./key-context.ts";
import { type OutcomeWorld, outcomeOf, responseOf } from "./key-outcome.ts";
import { problemResponse } from "./problems.ts";
import { verdictOf } from "./verdict.ts";

export interface TicketWorld extends OutcomeWorld {
  readonly keys: KeyStore;
  readonly platform: Platform;
  /** Bound of one call of the store. */
  readonly storeMs: number;
  emit(kind: KeyEvent["kind"], facts?: { attempt?: number; ageMs?: number; durationMs?: number }): void;
  /** Gives an answer that is not the handler's own the headers of its route. */
  dress(response: Response): Response;
  /** The first attempt's duration, for the advice when to come back. */
  took(durationMs: number): void;
}

export interface OpenTicket {
  readonly ticket: Ticket;
  /** Once recorded, released or given up. */
  readonly ended: Promise<void>;
  /** The process stops: work that may be resumed is left for another one, everything else goes on while it can. */
  abandon(): Promise<void>;
}

/** A caller waits no longer than this for an outcome that cannot be saved. */
const saveMsMax = 10_000;
const parkedReason = "the route parked its outcome";

export function openTicket(world: TicketWorld, keyed: KeyedRequest, holder: KeyHolder, attempt: number): OpenTicket {
  const { keys, platform, settings } = world;
  const { leaseMs, windowMs } = settings;
  const beganAt = platform.monoMs();
  const abort = new AbortController();
  const facts = { hint: world.hint, ...(world.docs === null ? {} : { docs: world.docs }) };
  const lease = keepLease(platform, leaseMs, () => keys.heartbeat(holder, leaseMs));
  lease.signal.addEventListener("abort", () => {
    world.emit("lease-lost", { attempt, durationMs: platform.monoMs() - beganAt });
    abort.abort("lease-lost");
  });
  const own = keyContext({ id: keyed.id, attempt, fence: holder.fence, signal: abort.signal });
  let isAbandoned = false;
  let end = () => {};
  const ended = new Promise<void>((resolve) => {
    end = resolve;
  });

  /** Tried again until a sixth of the lease is left: later, somebody else may have begun. */
  async function save(write: () => Promise<Held>): Promise<Held | "unstored"> {
    const until = Math.min(lease.heldAt() + (leaseMs * 5) / 6, platform.monoMs() + saveMsMax);
    for (let waitMs = 50; ; waitMs = Math.min(waitMs * 2, 1_000)) {
      const called = await callWithin(platform, world.storeMs, write);
      if (called.kind === "answer") return called.value;
      if (called.kind === "failed") world.report("its outcome could not be saved yet", called.error);
      if (platform.monoMs() + waitMs >= until) return "unstored";
      await pause(platform, waitMs);
    }
  }

  async function write(verdict: Verdict, captured: Captured): Promise<Held | "unstored"> {
    switch (verdict) {
      case "store": {
        const outcome = await outcomeOf(keyed.id, captured, world);
        return save(() => keys.complete(holder, outcome, windowMs));
      }
      case "release":
        return save(() => keys.release(holder));
      case "park":
        return save(() => keys.park(holder, parkedReason));
      case "resume":
        return save(() => keys.leave(holder, 0));
    }
  }

  async function settle(captured: Captured, ending: { isFailure: boolean; hasEffects: boolean }): Promise<Finished> {
    try {
      const { status } = captured;
      // It failed because it was asked to stop, and that is no outcome: the attempt that goes on has one.
      if (isAbandoned && (ending.isFailure || status >= 500)) {
        return { kind: "instead", response: world.dress(problemResponse("draining", facts)) };
      }
      const judged = verdictOf({ status, attempt, ...ending }, settings.store);
      if (judged.isRefused) {
        world.report("it asked to release a key after effects began, so the answer is stored; see beforeEffects", null);
      }
      const { verdict } = judged;
      const written = await write(verdict, captured);
      if (written === "lost") return { kind: "instead", response: world.dress(await winnersResponse()) };
      const durationMs = platform.monoMs() - beganAt;
      world.took(durationMs);
      const told = written === "unstored" ? "unstored" : statusBy[verdict];
      world.emit(written === "unstored" ? "unstored" : eventBy[verdict], { attempt, durationMs });
      const headers: [string, string][] = [["idempotency-status", told]];
      if (told === "executed") {
        headers.push(["idempotency-expires", new Date(platform.wallMs() + windowMs).toUTCString()]);
      }
      return { kind: "send", headers };
    } catch (error) {
      // An author's `store` threw: nothing is decided, the lease ends by itself, and `onCrash` says what then.
      world.report("its outcome could not be judged", error);
      world.emit("unstored", { attempt });
      return { kind: "send", headers: [["idempotency-status", "unstored"]] };
    } finally {
      lease.end();
      end();
    }
  }

  /** This attempt's answer does not count: the one who has the key decides. */
  async function winnersResponse(): Promise<Response> {
    const called = await callWithin(platform, world.storeMs, () => keys.read(keyed.id));
    if (called.kind !== "answer") return problemResponse("store-unavailable", facts);
    const record = called.value;
    if (record?.state === "parked") return problemResponse("outcome-unknown", facts);
    if (record?.state !== "completed" || record.outcome === null) return problemResponse("in-flight", facts);
    const { outcome, endsAt } = record;
    return responseOf(outcome, { completedAt: record.completedAt ?? record.createdAt, endsAt }, world);
  }

  let settled: Promise<Finished> | null = null;
  const ticket: Ticket = {
    context: own.context,
    bytesMax: settings.captureBytesMax,
    finish(captured) {
      settled ??= settle(captured, { isFailure: captured.body.kind === "aborted", hasEffects: true });
      return settled;
    },
    fail(error, answer) {
      // An error that became a refusal, such as 404 or 429, is one; what failed before effects is released whatever its answer says.
      const hasEffects = own.hasEffects(error);
      settled ??= settle(answer, { isFailure: answer.body.kind === "aborted" || !hasEffects, hasEffects });
      return settled;
    },
  };

  return {
    ticket,
    ended,
    async abandon() {
      if (settings.onCrash !== "resume" || settled !== null) return;
      isAbandoned = true;
      lease.end();
      abort.abort("draining");
      await callWithin(platform, world.storeMs, () => keys.leave(holder, 0));
    },
  };
}

const statusBy = { store: "executed", release: "released", park: "parked", resume: "resumable" } as const;
const eventBy = { store: "executed", release: "released", park: "parked", resume: "released" } as const;
