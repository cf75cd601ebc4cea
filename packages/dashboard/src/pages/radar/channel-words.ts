// Channels in words, and what is asked of the server for one.
import { visibleText } from "../../parts/visible-text.ts";
import type { Channel, ChannelKind } from "./radar-data.ts";

export interface ChannelDraft {
  readonly name: string;
  readonly kind: ChannelKind;
  /** Empty where the one that is there stays. */
  readonly url: string;
  readonly from: string;
  /** With commas between. */
  readonly to: string;
  readonly reason: string;
}

export const kindNames: Readonly<Record<ChannelKind, string>> = {
  slack: "Slack, or what understands its incoming webhooks",
  email: "E-mail (SMTP)",
  webhook: "Webhook, signed",
  log: "The log of the server",
};

const shortNames: Readonly<Record<ChannelKind, string>> = {
  slack: "Slack",
  email: "e-mail",
  webhook: "webhook",
  log: "the log",
};

/** "Slack at https://hooks.slack.com", "e-mail at smtps://mail.example.com:465, to ada@example.com" */
export const channelGoesTo = ({ kind, host, to }: Channel): string =>
  [
    `${shortNames[kind] ?? kind}${host === null ? "" : ` at ${visibleText(host)}`}`,
    ...(to.length === 0 ? [] : [`to ${to.map(visibleText).join(", ")}`]),
  ].join(", ");

const addressForms: Readonly<Record<Exclude<ChannelKind, "log">, string>> = {
  slack: "https://hooks.slack.com/services/…",
  email: "smtps://user:password@mail.example.com:465",
  webhook: "https://example.com/alerts",
};

export function addressHint(kind: Exclude<ChannelKind, "log">, known: Channel | null): string {
  const form = `Such as ${addressForms[kind]}. It is never shown again`;
  return known === null ? `${form}.` : `Left empty, the one at ${visibleText(known.host ?? "")} stays. ${form}.`;
}

export const addressesOf = (text: string): readonly string[] =>
  text
    .split(/[,\s]+/)
    .map((each) => each.trim())
    .filter((each) => each !== "");

/** Names what is missing; the server judges the rest. */
export function whyNotYet({ name, kind, url, from, to, reason }: ChannelDraft, isNew: boolean): string | null {
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(name.trim())) return "name";
  if (isNew && kind !== "log" && url.trim() === "") return "address";
  if (kind === "email" && (from.trim() === "" || addressesOf(to).length === 0)) return "people";
  return reason.trim() === "" ? "reason" : null;
}

/** Only what is said: what is not given stays as it is. */
export const bodyOf = ({ kind, url, from, to, reason }: ChannelDraft, isNew: boolean) => ({
  ...(isNew ? { kind } : {}),
  ...(kind === "log" || url.trim() === "" ? {} : { url: url.trim() }),
  ...(kind === "email" ? { from: from.trim(), to: addressesOf(to) } : {}),
  reason: reason.trim(),
});
