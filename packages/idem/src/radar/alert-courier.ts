// Carries alerts to channels, and once a day the report on what is new. Every node looks; a claim decides who tells which channel of which
// alert. Sent, or given up after the last try, the claim is settled and nobody tries again.
//
//   claim ──▶ send ──▶ settle "sent"
//               └ failed ──▶ extend, with how often and when next ──▶ send … ──▶ settle "failed"
//
// A node that is lost between sending and settling leaves a message that may be sent again, under the same id.
import type { IdemError } from "../model/errors.ts";
import { ifOpens } from "../model/seal.ts";
import { dayMs } from "../model/window.ts";
import type { Store } from "../store/store.ts";
import { alertKey, channelScope, type DeliveryOutcome, type TryNote } from "./alert-deliveries.ts";
import { alertMessage, type ChannelMessage, pairsInMessage } from "./channel-message.ts";
import { type Channel, channelKind, channelTitle, readChannel } from "./channels.ts";
import { dailyReport, dayOf } from "./daily-report.ts";

export type SendAnswer = { readonly kind: "sent" } | { readonly kind: "failed"; readonly why: string };

export const courierLimits = {
  /** Before the second try, the third, …: five tries in some seven minutes, then people look at the alert itself. */
  backoffMs: [5_000, 20_000, 80_000, 300_000],
  // Longer than a message may take.
  leaseMs: 120_000,
  // As long as an alert may be of interest.
  windowMs: 30 * dayMs,
  alertsMax: 100,
  // A storm of alerts is sent bit by bit.
  perLookMax: 10,
  doneMax: 10_000,
  reportMs: 60_000,
} as const;

export interface CourierOptions {
  readonly store: Pick<Store, "claim" | "extend" | "settle" | "reads">;
  readonly env: string;
  /** By the store's clock. */
  readonly now: () => number;
  readonly newId: () => string;
  readonly nameOf: (fn: string) => string;
  readonly send: (channel: Channel, message: ChannelMessage) => Promise<SendAnswer>;
  readonly warn: (line: string) => void;
}

interface Held {
  readonly scope: string;
  readonly key: string;
  readonly fence: number;
  readonly note: TryNote;
}

export class AlertCourier {
  /** Claims of this node that wait for their next try. */
  private readonly held = new Map<string, Held>();
  /** Settled, by whomever: not asked for again. */
  private readonly done = new Set<string>();
  /** Channels this process has no key to, each logged once. */
  private readonly shut = new Set<string>();
  private reportedAt = 0;

  constructor(private readonly options: CourierOptions) {}

  /** One bounded look; says how many messages were sent or tried. */
  async look(): Promise<number> {
    const { store, env, now: clock } = this.options;
    const settings = await store.reads.settings(env, channelKind);
    const channels = settings.flatMap((setting) => {
      const channel = ifOpens(
        () => readChannel(setting),
        (why) => this.tellShut(setting.name, why),
      );
      return channel === null || channel.isMuted ? [] : [channel];
    });
    if (channels.length === 0) return 0;
    const alerts = await store.reads.alerts(env, { state: "open", limit: courierLimits.alertsMax });
    const now = clock();
    const isReportDue = now - this.reportedAt >= courierLimits.reportMs;
    if (isReportDue) this.reportedAt = now;
    const counts = await Promise.all(
      channels.map(async (channel) => {
        let tried = 0;
        // The oldest first, in the order people would have been called.
        for (const alert of alerts.toReversed()) {
          if (alert.lastAt < channel.createdAt) continue;
          const answer = await this.tell(channel, alertKey(alert), async (id) => {
            const pairs = await store.reads.alertPairs(env, alert.id, { limit: pairsInMessage });
            return alertMessage(id, alert, pairs, alert.fn === "" ? "" : this.options.nameOf(alert.fn));
          });
          if (answer === null) continue;
          tried += 1;
          // A channel that fails now is not tried with the next alert at once.
          if (answer === "failed" || tried >= courierLimits.perLookMax) return tried;
        }
        if (!isReportDue) return tried;
        const report = await dailyReport(store.reads, env, this.options.nameOf, channel.createdAt, now);
        if (report === null) return tried;
        const answer = await this.tell(channel, `report-${dayOf(now)}`, async (id) => report(id));
        return answer === null ? tried : tried + 1;
      }),
    );
    return counts.reduce((sum, count) => sum + count, 0);
  }

  /** Others may go on with what this node holds. */
  async handBack(): Promise<void> {
    const { store, env } = this.options;
    for (const { scope, key, fence, note } of this.held.values()) {
      await store.extend({ env, scope, key, fence, leaseMs: 0, note: JSON.stringify(note) });
    }
    this.held.clear();
  }

  /** Null when there was nothing to do here: sent already, another node's, or not yet due again. */
  private async tell(
    channel: Channel,
    key: string,
    messageOf: (id: string) => Promise<ChannelMessage>,
  ): Promise<"sent" | "failed" | null> {
    const { store, env, now, send } = this.options;
    const scope = channelScope(channel.name);
    const place = `${scope} ${key}`;
    if (this.done.has(place)) return null;
    const held = this.held.get(place) ?? (await this.claim(scope, key));
    if (held === null) return null;
    this.held.set(place, held);
    if (now() < held.note.dueAt) return null;
    const { fence } = held;
    const { leaseMs, backoffMs } = courierLimits;
    const extend = (ms: number, note: TryNote) =>
      store.extend({ env, scope, key, fence, leaseMs: ms, note: JSON.stringify(note) });
    if ((await extend(leaseMs, held.note)) === "lost") {
      this.held.delete(place);
      return null;
    }
    const answer = await send(channel, await messageOf(`${channel.name}-${key}`));
    const tries = held.note.tries + 1;
    const at = now();
    const waitMs = backoffMs[tries - 1];
    if (answer.kind === "failed" && waitMs !== undefined) {
      const note = { tries, dueAt: at + waitMs, why: answer.why };
      this.held.set(place, { ...held, note });
      await extend(waitMs + leaseMs, note);
      return "failed";
    }
    const outcome: DeliveryOutcome =
      answer.kind === "sent" ? { kind: "sent", at, tries } : { kind: "failed", at, tries, why: answer.why };
    await store.settle(env, scope, key, fence, JSON.stringify(outcome));
    this.held.delete(place);
    this.finish(place);
    if (answer.kind === "failed") {
      this.options.warn(`idem: ${channelTitle(channel)} could not be told in ${tries} tries: ${answer.why} (${key})`);
    }
    return answer.kind;
  }

  private async claim(scope: string, key: string): Promise<Held | null> {
    const { store, env, newId } = this.options;
    const { leaseMs, windowMs } = courierLimits;
    const answer = await store.claim({ env, scope, key, token: newId(), fingerprint: null, leaseMs, windowMs });
    if (answer.kind === "duplicate") this.finish(`${scope} ${key}`);
    if (answer.kind !== "fresh") return null;
    const note = answer.note === null ? { tries: 0, dueAt: 0, why: "" } : (JSON.parse(answer.note) as TryNote);
    return { scope, key, fence: answer.fence, note };
  }

  /** Claims nothing of it: another node may have the key, or this one after a restart. */
  private tellShut(name: string, why: IdemError): void {
    if (this.shut.has(name)) return;
    this.shut.add(name);
    this.options.warn(`idem: channel "${name}" is told of no alert by this process: ${why.message}`);
  }

  private finish(place: string): void {
    this.done.add(place);
    if (this.done.size > courierLimits.doneMax) this.done.delete(this.done.values().next().value!);
  }
}
