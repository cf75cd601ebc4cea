// The sent-log: for destinations that keep no idempotency keys (mail, text messages, chat, most CRMs). A message about to be sent is written
// down first; asking again gives the receipt; and a sending that nobody saw end is up to the author.

import type { Reconciled } from "../../execute/attempt-effect.ts";
import { lasting, parseDuration } from "../../model/duration.ts";
import { errors } from "../../model/errors.ts";
import { toJson } from "../../model/json.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform } from "../../platform/platform.ts";
import { claimsIn, listOpen, reap, resolve } from "../claim/claims.ts";
import { leaseMsOf } from "../claim/keep-lease.ts";
import type { Adapter } from "../sql/adapter.ts";
import { sqlPart } from "../sql/parts.ts";
import { entryId, entryOf, type SentEntry, sentScope as scope } from "./entry.ts";
import type { ReceiptOf } from "./receipt.ts";
import { type OnceAnswer, SendOnce, type SendTask } from "./send-once.ts";

export interface SentLogSettings {
  /** Default "60s"; a heartbeat goes out every third of it. */
  readonly lease?: string | number;
  readonly platform?: Platform;
  /** An alert: somebody has to find out whether this was sent. `console.error` by default; `recipient` is not logged. */
  readonly onParked?: (entry: SentEntry) => void;
}

/** A sending whose end nobody saw. */
export interface InDoubt {
  readonly tag: string;
  readonly template: string;
  readonly recipient: string;
  readonly about: string | null;
  /** Milliseconds since 1970: nothing was sent before. */
  readonly since: number;
}

/** `absent` counts once `reconcileAfter` has passed; before, a provider's search may not show it yet. */

/** Required: what the next asker does when nobody knows whether it was sent. */
export type OnUnknown =
  /** At most once: it waits for a person. */
  | { readonly onUnknown: "park" }
  /** At least once: it is sent again, with the same tag. */
  | { readonly onUnknown: "resend" }
  /** Exactly once, if the provider's search is complete and shows what was sent within `reconcileAfter`. */
  | {
      readonly onUnknown: "reconcile";
      readonly reconcile: (doubt: InDoubt) => Promise<Reconciled> | Reconciled;
      /** The provider's search may lag by this much at most. */
      readonly reconcileAfter: string | number;
    };

export type SentLogOptions = SentLogSettings & OnUnknown;

export interface OnceInput {
  readonly template: string;
  readonly recipient: string;
  /** The subject, where one recipient may get the template more than once: an order's id. */
  readonly about?: string;
  /** The same is not sent again for this long after it was sent. */
  readonly window: string | number;
}

export interface SentLog {
  /**
   * Sends, unless it was sent. An error of `send` is thrown, and leaves it unknown whether it was sent; unless it is a `Refused`, which
   * is answered, as a 4xx Response is.
   */
  once<T>(input: OnceInput, send: SendTask<T>): Promise<OnceAnswer<ReceiptOf<T>>>;
  parked(page?: { readonly limit?: number; readonly after?: string }): Promise<readonly SentEntry[]>;
  /** A person found out. "not-sent": the next asker sends. False: it is not parked. */
  resolve(id: string, what: { readonly sent: unknown } | "not-sent"): Promise<boolean>;
  /** Deletes at most `limit` rows whose window is over; none that is in doubt. */
  reap(limit?: number): Promise<number>;
}

export function createSentLog(adapter: Adapter<unknown>, options: SentLogOptions): SentLog {
  refuseUnknown<SentLogOptions>("createSentLog", options, {
    lease: true,
    platform: true,
    onParked: true,
    onUnknown: true,
    reconcile: true,
    reconcileAfter: true,
  });
  const { platform = nodePlatform, onUnknown } = options;
  if (onUnknown !== "park" && onUnknown !== "resend" && onUnknown !== "reconcile") {
    throw refuse("onUnknown", 'it is required: "park", "resend" or "reconcile"');
  }
  if (onUnknown === "reconcile" && typeof options.reconcile !== "function") {
    throw refuse("reconcile", "it is required with onUnknown: reconcile");
  }
  if (onUnknown === "reconcile" && options.reconcileAfter === undefined) {
    throw refuse("reconcileAfter", "it is required with onUnknown: reconcile");
  }
  const claims = claimsIn(adapter);
  const sending = new SendOnce({
    claims,
    platform,
    leaseMs: leaseMsOf("sentLog", options.lease ?? "60s"),
    reconcileAfterMs: onUnknown === "reconcile" ? parseDuration(options.reconcileAfter, "reconcileAfter") : 0,
    onUnknown,
    reconcile: onUnknown === "reconcile" ? options.reconcile : () => "unknown",
    onParked:
      options.onParked ??
      (({ id, template }) =>
        console.error(`Idem sent-log: nobody knows whether ${template} ${id.slice(0, 8)} was sent`)),
  });
  return {
    once: async <T>(input: OnceInput, send: SendTask<T>) => {
      refuseUnknown<OnceInput>("sentLog.once", input, { template: true, recipient: true, about: true, window: true });
      const { template, recipient, about = null } = input;
      const windowMs = lasting(parseDuration(input.window, "window"), "window", refuse);
      for (const [option, value] of Object.entries({ template, recipient, about: about ?? "-" })) {
        if (typeof value !== "string" || value === "" || value.length > 1_000) {
          throw refuse(option, "it must be a text of 1 to 1,000 characters");
        }
      }
      const id = entryId(template, recipient, about);
      const answer = await sending.once(id, { template, recipient, about }, windowMs, send);
      return answer as OnceAnswer<ReceiptOf<T>>;
    },
    parked: async ({ limit = 100, after = "" } = {}) => {
      const which = sqlPart`state = 'parked' and key > ${after}`;
      return (await claims((sql) => listOpen(sql, scope, which, limit))).map(entryOf);
    },
    resolve: (id, what) => {
      const receipt = what === "not-sent" ? null : toJson(what.sent, "The receipt");
      return claims((sql) => resolve(sql, { scope, key: id }, receipt));
    },
    reap: (limit = 1_000) => claims((sql) => reap(sql, scope, limit)),
  };
}

const refuse = (option: string, why: string) => errors.TOOLKIT_OPTION_INVALID({ call: "sentLog", option, why });
