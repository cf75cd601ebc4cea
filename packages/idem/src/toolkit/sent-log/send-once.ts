// One asking: claim, send and settle; or find out what became of an earlier one.
//
//   fresh ──send──▶ receipt ─▶ settled        definite refusal ─▶ released
//     └── of one whose sender died or saw no end (unknown_at) ─▶ parked, settled by a search, or sent again, as chosen

import type { Reconciled } from "../../execute/attempt-effect.ts";
import { fromJson, toJson } from "../../model/json.ts";
import type { Platform } from "../../platform/platform.ts";
import { newOwner } from "../claim/claim-operations.ts";
import {
  type ClaimKey,
  type ClaimRow,
  claim,
  type claimsIn,
  extend,
  leave,
  park,
  read,
  release,
  settleLate,
} from "../claim/claims.ts";
import type { InFlight } from "../claim/decide-claim.ts";
import { reasonOf, underLease } from "../claim/work-under-claim.ts";
import type { Sql } from "../sql/operation.ts";
import { type Columns, plain } from "../sql/parts.ts";
import type { InDoubt, OnUnknown } from "./create-sent-log.ts";
import { entryOf, type SentEntry, type SentNote, sentScope, tagOf } from "./entry.ts";
import { answeredBy, Refused } from "./receipt.ts";

export interface SendContext {
  /** Put it into the message where the provider can search for it: the same on every attempt. */
  readonly tag: string;
  /** From 1. */
  readonly attempt: number;
  /** Aborts with reason "lease-lost" when somebody else may have taken over. */
  readonly signal: AbortSignal;
}

export type SendTask<T> = (context: SendContext) => Promise<T> | T;

export type OnceAnswer<Receipt> =
  /** Sent, by this call. */
  | { readonly kind: "done"; readonly receipt: Receipt }
  /** By an earlier one: its receipt, as recorded or as found at the provider. */
  | { readonly kind: "duplicate"; readonly receipt: Receipt }
  | InFlight
  /** The provider said no, and sent nothing: who asks again, sends again. */
  | { readonly kind: "refused"; readonly reason: string; readonly cause: unknown }
  /** Nobody knows yet whether it was sent; asking again later finds out. */
  | { readonly kind: "unknown"; readonly retryAfterMs: number }
  /** Nobody knows whether it was sent, and a person has to find out. */
  | { readonly kind: "parked"; readonly id: string };

export interface SendOnceOptions {
  readonly claims: ReturnType<typeof claimsIn>;
  readonly platform: Platform;
  readonly leaseMs: number;
  readonly onUnknown: OnUnknown["onUnknown"];
  readonly reconcile: (doubt: InDoubt) => Promise<Reconciled> | Reconciled;
  readonly reconcileAfterMs: number;
  readonly onParked: (entry: SentEntry) => void;
}

// A search that could not tell: soon enough to notice, seldom enough for a provider's limits.
const searchAgainMs = 10_000;

/** It stopped being known when its sender's lease ended, for until then a frozen one may send. */
const died = { unknown_at: plain("coalesce(unknown_at, lease_until)") };
/** A look for what became of it is no attempt. */
const looked = { attempts: plain("attempts - 1") };
/** A late receipt may end any doubt, as long as nobody sends again. */
const inDoubt = plain("(state in ('released', 'parked') or unknown_at is not null)");

export class SendOnce {
  constructor(private readonly options: SendOnceOptions) {}

  async once(id: string, note: SentNote, windowMs: number, send: SendTask<unknown>): Promise<OnceAnswer<unknown>> {
    const { claims, platform, leaseMs } = this.options;
    const ask = { scope: sentScope, key: id, owner: newOwner(platform), leaseMs, windowMs, note: JSON.stringify(note) };
    // Its row says so before the first byte leaves.
    const answer = await claims((sql) => claim(sql, { ...ask, onCrash: "resume", died }));
    if (answer.kind === "in-flight") return answer;
    const { row } = answer;
    if (answer.kind !== "fresh") return this.told(row);
    return row.unknownForMs === null ? this.send(row, send) : this.findOut(row, send);
  }

  private async send(row: ClaimRow, send: SendTask<unknown>): Promise<OnceAnswer<unknown>> {
    return this.underLease(row, async (signal) => {
      try {
        const value = await send({ tag: tagOf(row), attempt: row.attempts, signal });
        const answered = await answeredBy(value);
        if (answered.kind === "sent") {
          // Sent is sent, also where what the author returned cannot be kept; then the mistake is theirs to see.
          await this.recordSent(row, answered.receipt);
          if (answered.mistake !== undefined) throw answered.mistake;
          return { kind: "done", receipt: fromJson(answered.receipt) };
        }
        if (answered.kind === "unknown") return await this.doubt(row, answered.reason);
        return await this.refused(row, answered.reason, value);
      } catch (error) {
        if (error instanceof Refused) return this.refused(row, error.message, error);
        await this.doubt(row, reasonOf(error));
        throw error;
      }
    });
  }

  private async refused(row: ClaimRow, reason: string, cause: unknown): Promise<OnceAnswer<unknown>> {
    await this.options.claims((sql) => release(sql, row, reason));
    return { kind: "refused", reason, cause };
  }

  /** Its sender died or saw no end; this call alone may decide. */
  private async findOut(row: ClaimRow, send: SendTask<unknown>): Promise<OnceAnswer<unknown>> {
    const { claims, leaseMs, onUnknown } = this.options;
    if (onUnknown === "park") return this.park(row, row.reason, looked);
    const found = onUnknown === "resend" ? "absent" : await this.search(row);
    if (found === "unknown") return this.doubt(row, row.reason, looked);
    if (found === "absent") {
      const held = await claims((sql) => extend(sql, row, leaseMs, { unknown_at: null }));
      return held === "lost" ? this.read(row) : this.send({ ...row, unknownForMs: null }, send);
    }
    await this.recordSent(row, toJson(found.found ?? null, "The receipt"));
    return this.read(row);
  }

  private search(row: ClaimRow): Promise<Reconciled> {
    const { reconcile, reconcileAfterMs } = this.options;
    return this.underLease(row, async () => {
      try {
        const { template, recipient, about, sendingAt } = entryOf(row);
        const found = await reconcile({ tag: tagOf(row), template, recipient, about, since: sendingAt });
        // A message sent a moment ago may not be shown yet.
        return found === "absent" && (row.unknownForMs ?? 0) < reconcileAfterMs ? "unknown" : found;
      } catch (error) {
        await this.doubt(row, row.reason, looked);
        throw error;
      }
    });
  }

  /** `unknown` from a throw: from now on it is not known; from a search that found out nothing: since it ever was not. */
  private async doubt(row: ClaimRow, reason: string | null, set: Columns = {}): Promise<OnceAnswer<unknown>> {
    const { claims, onUnknown, reconcileAfterMs } = this.options;
    if (onUnknown === "park") return this.park(row, reason, set);
    await claims((sql) => leave(row, reason ?? "not found out yet", { ...set, ...unknownBy(sql) }));
    if (onUnknown === "resend") return { kind: "unknown", retryAfterMs: 0 };
    return { kind: "unknown", retryAfterMs: Math.max(reconcileAfterMs - (row.unknownForMs ?? 0), searchAgainMs) };
  }

  private async park(row: ClaimRow, why: string | null, set: Columns): Promise<OnceAnswer<unknown>> {
    const reason = why ?? "its sender did not see it end";
    const held = await this.options.claims((sql) => park(row, reason, { ...set, ...unknownBy(sql) }));
    if (held === "lost") return this.read(row);
    this.options.onParked(entryOf({ ...row, reason }));
    return { kind: "parked", id: row.key };
  }

  private recordSent(row: ClaimRow, receipt: string): Promise<boolean> {
    return this.options.claims((sql) => settleLate(sql, row, receipt, inDoubt));
  }

  private underLease<T>(row: ClaimRow, work: (signal: AbortSignal) => Promise<T>): Promise<T> {
    const { claims, platform, leaseMs } = this.options;
    return underLease(platform, leaseMs, () => claims((sql) => extend(sql, row, leaseMs)), work);
  }

  private async read(at: ClaimKey): Promise<OnceAnswer<unknown>> {
    const row = await this.options.claims((sql) => read(sql, at));
    return row === null ? { kind: "in-flight", leaseLeftMs: 0 } : this.told(row);
  }

  private told({ key, state, outcome, leaseLeftMs }: ClaimRow): OnceAnswer<unknown> {
    if (state === "settled") return { kind: "duplicate", receipt: fromJson(outcome!) };
    return state === "parked" ? { kind: "parked", id: key } : { kind: "in-flight", leaseLeftMs };
  }
}

const unknownBy = ({ now }: Sql): Columns => ({ unknown_at: plain(`coalesce(unknown_at, ${now})`) });
