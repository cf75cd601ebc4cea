// The delivery of an alert to a channel. It is a claim: the channel is the scope, the alert the key, so that one of many nodes sends
// it, and the claim's outcome says what came of it.
import { ifOpens } from "../model/seal.ts";
import type { Alert } from "../store/alerts.ts";
import type { StoreReads } from "../store/reads.ts";
import { channelKind, channelTitle, readChannel } from "./channels.ts";
import { instant, times } from "./finding.ts";

export const channelScope = (channel: string): string => `alert-channel:${channel}`;

/** Muted for a while and open again, it is sent again. */
export const alertKey = ({ id, judgedAt }: Pick<Alert, "id" | "judgedAt">): string =>
  judgedAt === null ? id : `${id}@${judgedAt}`;

/** Beside the claim while it is tried. */
export interface TryNote {
  readonly tries: number;
  readonly dueAt: number;
  readonly why: string;
}

export type DeliveryOutcome =
  | { readonly kind: "sent"; readonly at: number; readonly tries: number }
  | { readonly kind: "failed"; readonly at: number; readonly tries: number; readonly why: string };

export interface AlertDelivery {
  readonly channel: string;
  readonly state: "sent" | "failed" | "trying";
  /** When it was sent or given up; while it is tried, when the next try is due. */
  readonly at: number;
  readonly tries: number;
  readonly why: string | null;
  /** "Sent to Slack "ops" at …" */
  readonly words: string;
}

/** Of every channel there is; one that was sent nothing has no line. */
export async function deliveriesOf(
  reads: Pick<StoreReads, "settings" | "claim">,
  env: string,
  alert: Alert,
): Promise<AlertDelivery[]> {
  const settings = await reads.settings(env, channelKind);
  // After it was acknowledged or closed, the key it was sent under before counts.
  const keys = [...new Set([alertKey(alert), alert.id])];
  const found: AlertDelivery[] = [];
  for (const setting of settings) {
    const { name } = setting;
    const title = ifOpens(() => channelTitle(readChannel(setting))) ?? `channel "${name}"`;
    for (const key of keys) {
      const claim = await reads.claim(env, channelScope(name), key);
      if (claim === null || claim.outcome === null) continue;
      found.push(deliveryOf(name, title, claim.state === "settled", claim.outcome));
      break;
    }
  }
  return found;
}

function deliveryOf(channel: string, title: string, isSettled: boolean, text: string): AlertDelivery {
  const base = { channel };
  if (!isSettled) {
    const { tries, dueAt, why } = JSON.parse(text) as TryNote;
    const words = `Not yet sent to ${title}, after ${times(tries, "try", "tries")}: ${why}. Next try ${instant(dueAt)}`;
    return { ...base, state: "trying", at: dueAt, tries, why, words };
  }
  const outcome = JSON.parse(text) as DeliveryOutcome;
  const { at, tries } = outcome;
  if (outcome.kind === "sent") {
    return { ...base, state: "sent", at, tries, why: null, words: `Sent to ${title} at ${instant(at)}` };
  }
  const words = `Not sent to ${title}, given up at ${instant(at)} after ${times(tries, "try", "tries")}: ${outcome.why}`;
  return { ...base, state: "failed", at, tries, why: outcome.why, words };
}
