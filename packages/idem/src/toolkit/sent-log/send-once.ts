// One asking: claim, send and settle; or find out what became of an earlier one.
import { fromJson, toJson } from "../../model/json.ts";
import type { Platform } from "../../platform/platform.ts";
import { keepLease } from "../keep-lease.ts";
import { newOwner } from "../owner-name.ts";
import type { Adapter } from "../sql/adapter.ts";
import { claimSend, extendSend, type SendAsk, type SendHolder, sendAgain, takeDoubt } from "./claim-send.ts";
import type { InDoubt, OnUnknown, Reconciled } from "./create-sent-log.ts";
import { type SentEntry, tagOf } from "./entry.ts";
import { answeredBy, Refused } from "./receipt.ts";
import { readEntry, recordDoubt, recordSent } from "./settle-send.ts";

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
  /** By this call. */
  | { readonly outcome: "sent"; readonly receipt: Receipt }
  /** By an earlier one: its receipt, as recorded or as found at the provider. */
  | { readonly outcome: "duplicate"; readonly receipt: Receipt }
  /** Somebody else is at it. */
  | { readonly outcome: "in-flight"; readonly leaseLeftMs: number }
  /** The provider said no, and sent nothing: who asks again, sends again. */
  | { readonly outcome: "refused"; readonly reason: string; readonly cause: unknown }
  /** Nobody knows yet whether it was sent; asking again later finds out. */
  | { readonly outcome: "unknown"; readonly retryAfterMs: number }
  /** Nobody knows whether it was sent, and a person has to find out. */
  | { readonly outcome: "parked"; readonly id: string };

export interface SendOnceOptions {
  readonly adapter: Adapter<any>;
  readonly platform: Platform;
  readonly leaseMs: number;
  readonly onUnknown: OnUnknown["onUnknown"];
  readonly reconcile: (doubt: InDoubt) => Promise<Reconciled> | Reconciled;
  readonly reconcileAfterMs: number;
  readonly onParked: (entry: SentEntry) => void;
}

type Ask = Omit<SendAsk, "owner" | "leaseMs">;

// A search that could not tell: soon enough to notice, seldom enough for a provider's limits.
const searchAgainMs = 10_000;

export class SendOnce {
  constructor(private readonly options: SendOnceOptions) {}

  async once(asked: Ask, send: SendTask<unknown>): Promise<OnceAnswer<unknown>> {
    const { adapter, platform, leaseMs } = this.options;
    const { dialect } = adapter;
    const ask: SendAsk = { ...asked, owner: newOwner(platform), leaseMs };
    // Each round lost means that somebody else was first at something.
    for (let round = 0; round < 3; round++) {
      const claim = await adapter.perform(claimSend(dialect, ask));
      if (claim === null) continue;
      const { entry } = claim;
      if (claim.kind === "send") return this.send(entry, ask.owner, send);
      if (entry.state === "sent") return { outcome: "duplicate", receipt: entry.receipt };
      if (entry.state === "parked") return { outcome: "parked", id: entry.id };
      if (entry.leaseLeftMs > 0) return { outcome: "in-flight", leaseLeftMs: entry.leaseLeftMs };
      const doubt = await adapter.perform(takeDoubt(dialect, ask, entry.fence));
      if (doubt !== null) return this.findOut(doubt, ask.owner, send);
    }
    return { outcome: "in-flight", leaseLeftMs: leaseMs };
  }

  private async send(entry: SentEntry, owner: string, send: SendTask<unknown>): Promise<OnceAnswer<unknown>> {
    const { adapter, platform, leaseMs } = this.options;
    const holder = { ...holderOf(entry, owner), generation: entry.generation };
    const lease = keepLease(platform, leaseMs, () => adapter.perform(extendSend(adapter.dialect, holder, leaseMs)));
    try {
      const value = await send({ tag: tagOf(entry), attempt: entry.attempts, signal: lease.signal });
      const answered = await answeredBy(value);
      if (answered.kind === "sent") {
        // Sent is sent, also where what the author returned cannot be kept; then the mistake is theirs to see.
        await adapter.perform(recordSent(adapter.dialect, holder, answered.receipt));
        if (answered.mistake !== undefined) throw answered.mistake;
        return { outcome: "sent", receipt: fromJson(answered.receipt) };
      }
      await this.doubt(holder, answered.kind, answered.reason);
      if (answered.kind === "unknown") return this.afterUnknown(entry, holder);
      return { outcome: "refused", reason: answered.reason, cause: value };
    } catch (error) {
      const reason = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      const isRefused = error instanceof Refused;
      await this.doubt(holder, isRefused ? "refused" : "unknown", reason);
      if (isRefused) return { outcome: "refused", reason: error.message, cause: error };
      if (this.options.onUnknown === "park") await this.park({ ...entry, reason }, holder);
      throw error;
    } finally {
      lease.end();
    }
  }

  /** Its sender died or saw no end; this call alone may decide. */
  private async findOut(entry: SentEntry, owner: string, send: SendTask<unknown>): Promise<OnceAnswer<unknown>> {
    const { adapter, leaseMs, onUnknown } = this.options;
    const holder = { ...holderOf(entry, owner), generation: entry.generation };
    if (onUnknown === "park") return this.park(entry, holder);
    const again = async (): Promise<OnceAnswer<unknown>> => {
      const sending = await adapter.perform(sendAgain(adapter.dialect, holder, leaseMs));
      return sending === null ? this.read(entry.id) : this.send(sending, owner, send);
    };
    if (onUnknown === "resend") return again();
    const found = await this.search(entry, holder);
    if (found === "absent") return again();
    if (found !== "unknown") {
      await adapter.perform(recordSent(adapter.dialect, holder, toJson(found.found ?? null, "The receipt")));
      return this.read(entry.id);
    }
    await this.doubt(holder, "unknown", entry.reason ?? "not found out yet");
    return this.afterUnknown(entry, holder);
  }

  private async search(entry: SentEntry, holder: SendHolder): Promise<Reconciled> {
    const { adapter, platform, leaseMs, reconcile, reconcileAfterMs } = this.options;
    const { template, recipient, about, sendingAt } = entry;
    const lease = keepLease(platform, leaseMs, () => adapter.perform(extendSend(adapter.dialect, holder, leaseMs)));
    try {
      const found = await reconcile({ tag: tagOf(entry), template, recipient, about, since: sendingAt });
      // What was sent a moment ago may not be shown yet.
      return found === "absent" && (entry.unknownForMs ?? 0) < reconcileAfterMs ? "unknown" : found;
    } catch (error) {
      await this.doubt(holder, "unknown", entry.reason ?? "not found out yet");
      throw error;
    } finally {
      lease.end();
    }
  }

  private async afterUnknown(entry: SentEntry, holder: SendHolder): Promise<OnceAnswer<unknown>> {
    const { onUnknown, reconcileAfterMs } = this.options;
    if (onUnknown === "park") return this.park(entry, holder);
    const leftMs = onUnknown === "resend" ? 0 : reconcileAfterMs - (entry.unknownForMs ?? 0);
    return { outcome: "unknown", retryAfterMs: onUnknown === "resend" ? 0 : Math.max(leftMs, searchAgainMs) };
  }

  private async park(entry: SentEntry, holder: SendHolder): Promise<OnceAnswer<unknown>> {
    const isOurs = await this.doubt(holder, "parked", entry.reason ?? "its sender did not see it end");
    if (!isOurs) return this.read(entry.id);
    this.options.onParked({ ...entry, state: "parked" });
    return { outcome: "parked", id: entry.id };
  }

  private doubt(holder: SendHolder, state: "refused" | "unknown" | "parked", reason: string): Promise<boolean> {
    const { adapter } = this.options;
    return adapter.perform(recordDoubt(adapter.dialect, holder, state, reason));
  }

  private async read(id: string): Promise<OnceAnswer<unknown>> {
    const { adapter, leaseMs } = this.options;
    const entry = await adapter.perform(readEntry(adapter.dialect, id));
    if (entry?.state === "sent") return { outcome: "duplicate", receipt: entry.receipt };
    if (entry?.state === "parked") return { outcome: "parked", id };
    return { outcome: "in-flight", leaseLeftMs: entry === null ? leaseMs : Math.max(0, entry.leaseLeftMs) };
  }
}

const holderOf = ({ id, fence }: SentEntry, owner: string): SendHolder => ({ id, owner, fence });
