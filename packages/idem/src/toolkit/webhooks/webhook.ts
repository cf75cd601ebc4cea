// An author's options for one source.

import { parseDuration } from "../../model/duration.ts";
import { errors } from "../../model/errors.ts";
import { refuseUnknown } from "../../model/known-options.ts";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform } from "../../platform/platform.ts";
import type { Idem } from "../../sdk/client.ts";
import { inside } from "../../sdk/inside.ts";
import type { Adapter } from "../sql/adapter.ts";
import { type CoalesceOptions, readCoalesce } from "./coalesce.ts";
import { coalesceInEngine } from "./coalesce-in-engine.ts";
import { keepInDatabase } from "./keep-in-database.ts";
import { keepInEngine, type Transform } from "./keep-in-engine.ts";
import type { Delivery, WebhookProvider } from "./provider.ts";
import { receiver, type WebhookNote, type WebhookReceiver } from "./receive.ts";
import type { Normalised, WebhookEvent } from "./webhook-event.ts";

interface CommonOptions<Payload> {
  /** Names where it comes from, such as "stripe" or "stripe/live": ids are unique within it, and event names begin with it. */
  readonly source: string;
  readonly provider: WebhookProvider;
  /** Must be pure. Fields it leaves out stay as the provider has them; an error sends the delivery to quarantine. */
  readonly normalise?: (payload: Payload, delivery: Delivery) => Normalised;
  /** Makes two deliveries the same although their ids differ; the first one counts, for the whole window. */
  readonly businessKey?: (event: WebhookEvent<Payload>) => readonly (string | number | null | undefined)[];
  /** One logical event under two names: gathered for a moment, and delivered once. */
  readonly coalesce?: CoalesceOptions<Payload>;
  /** Ids are remembered for this long: "35d" by default. */
  readonly window?: string | number;
  /** Longest time to keep a delivery before the provider is asked to come again: "2s" by default. */
  readonly ackBudget?: string | number;
  /** Of a body; 1 MiB by default. */
  readonly bytesMax?: number;
  readonly onNote?: (note: WebhookNote) => void;
  readonly platform?: Platform;
}

export interface EngineWebhookOptions<Payload> extends CommonOptions<Payload> {
  /** Deliveries become events of this client, in the commit that starts their runs. */
  readonly idem: Idem;
  /**
   * At a server the names `<source>/…` are reserved for this receiver from its first delivery on, and events under them by other ways are refused.
   * With true they are not.
   */
  readonly allowOtherSenders?: boolean;
  /** Pure: from a payload to the event that is sent, or null for none. An error sends the delivery to quarantine. */
  readonly transform?: Transform<Payload>;
}

export interface DatabaseWebhookOptions<Payload> extends CommonOptions<Payload> {
  /** Deliveries become rows of this database, for `webhookProcessor`. */
  readonly store: Adapter<unknown>;
}

export type WebhookOptions<Payload> = EngineWebhookOptions<Payload> | DatabaseWebhookOptions<Payload>;

const knownOptions = {
  source: true,
  provider: true,
  normalise: true,
  businessKey: true,
  coalesce: true,
  window: true,
  ackBudget: true,
  bytesMax: true,
  onNote: true,
  platform: true,
  idem: true,
  transform: true,
  allowOtherSenders: true,
  store: true,
} as const;

/** Payloads are what the provider makes them; say what you rely on: `webhook<{ id: string }>(…)`. */
export function webhook<Payload = unknown>(given: WebhookOptions<Payload>): WebhookReceiver {
  refuseUnknown<WebhookOptions<Payload>>("webhook", given, knownOptions);
  // The caller's word for what its provider sends; nothing in here reads a payload.
  const options = given as unknown as WebhookOptions<unknown>;
  const refuse = (option: string, why: string) => errors.TOOLKIT_OPTION_INVALID({ call: "webhook", option, why });
  const source = readSource(options.source);
  const windowMs = options.window === undefined ? options.provider.windowMs : parseDuration(options.window, "window");
  if (options.coalesce !== undefined && options.businessKey !== undefined) {
    throw refuse("businessKey", "coalesce has a key of its own");
  }
  const coalesce = options.coalesce === undefined ? null : readCoalesce(options.coalesce);
  const { provider, normalise, ackBudget, bytesMax, onNote, platform } = options;
  const receive = { source, provider, normalise, ackBudget, bytesMax, onNote, platform };
  if ("idem" in options && options.idem !== undefined) {
    const { idem, transform, businessKey, allowOtherSenders: isShared } = options;
    const sender = { deliveries: idem[inside].deliveries, windowMs, isShared, platform: platform ?? nodePlatform };
    if (coalesce === null) return receiver(receive, keepInEngine({ ...sender, source, transform, businessKey }));
    if (transform !== undefined) throw refuse("transform", "what is coalesced is read by normalise");
    return receiver(receive, coalesceInEngine({ ...sender, idem, source, coalesce }));
  }
  if (!("store" in options) || options.store === undefined) throw refuse("store", "neither idem nor store is given");
  const { store, businessKey } = options;
  return receiver(receive, keepInDatabase({ adapter: store, source, windowMs, businessKey, coalesce }));
}

/** No colon: an id is `source:id`, and two of them must not be able to meet. */
export function readSource(source: string): string {
  if (typeof source === "string" && /^[A-Za-z0-9][A-Za-z0-9._/-]{0,99}$/.test(source)) return source;
  const why = "it must be 1 to 100 letters, digits, dots, dashes, underscores or slashes";
  throw errors.TOOLKIT_OPTION_INVALID({ call: "webhook", option: "source", why });
}
