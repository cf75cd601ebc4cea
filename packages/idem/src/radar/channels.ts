// Alert channels: an address each, kept as a setting. The secret part (a password, the path of a Slack
// address, the key that signs) is kept with it, for nothing can be sent without, and never shown: a mark tells two of them apart.
import { createHash } from "node:crypto";
import { errors } from "../model/errors.ts";

/** The kind of setting a channel is kept as. */
export const channelKind = "radar-channel";
export const channelKinds = ["webhook", "slack", "email", "log"] as const;
export type ChannelKind = (typeof channelKinds)[number];
export const channelsMax = 20;

export interface Channel {
  readonly name: string;
  readonly kind: ChannelKind;
  /** `https://…`, or `smtps://user:password@host:465`; null for the log. */
  readonly url: string | null;
  /** Signs a webhook, `whsec_…`; null for every other kind. */
  readonly secret: string | null;
  /** Of e-mail; null and none for every other kind. */
  readonly from: string | null;
  readonly to: readonly string[];
  readonly isMuted: boolean;
  /** Alerts from before are not sent. */
  readonly createdAt: number;
}

export interface ChannelInput {
  readonly kind?: string | undefined;
  readonly url?: string | undefined;
  readonly from?: string | undefined;
  readonly to?: readonly string[] | undefined;
  readonly muted?: boolean | undefined;
}

const urlCharsMax = 2_048;
const toMax = 20;
const addressPattern = /^[^\s@<>,;:"\\()[\]]{1,64}@[A-Za-z0-9.-]{1,255}$/;

const refuse = (option: string, why: string) => errors.OPTION_INVALID({ option, why });

/** Refuses what nothing could be sent to. `over` is the channel that is changed. */
export function makeChannel(
  name: string,
  input: ChannelInput,
  over: Channel | null,
  fresh: { readonly secret: string; readonly now: number },
): Channel {
  if (!/^[a-z0-9][a-z0-9-]{0,63}$/.test(name)) {
    throw refuse("name", "it must be 1 to 64 small letters, digits or dashes");
  }
  const kind = channelKinds.find((each) => each === (input.kind ?? over?.kind));
  if (kind === undefined) throw refuse("kind", `it must be ${channelKinds.join(", ")}`);
  // Another kind of address is another channel: nothing of the old one would be right for it.
  const known = over?.kind === kind ? over : null;
  const url = readUrl(kind, input.url ?? known?.url ?? null);
  const from = kind === "email" ? readAddress("from", input.from ?? known?.from ?? null) : null;
  const to = kind === "email" ? readRecipients(input.to ?? known?.to ?? []) : [];
  const secret = kind === "webhook" ? (known?.secret ?? fresh.secret) : null;
  const isMuted = input.muted ?? known?.isMuted ?? false;
  return { name, kind, url, secret, from, to, isMuted, createdAt: known?.createdAt ?? fresh.now };
}

function readUrl(kind: ChannelKind, text: string | null): string | null {
  if (kind === "log") return null;
  if (text === null || !URL.canParse(text) || text.length > urlCharsMax) throw refuse("url", "it is not a URL");
  const { protocol, hostname, username, password } = new URL(text);
  if (hostname === "") throw refuse("url", "it names no host");
  if (kind === "email") {
    if (protocol !== "smtp:" && protocol !== "smtps:") throw refuse("url", "it must begin with smtp:// or smtps://");
    return text;
  }
  if (protocol !== "https:" && protocol !== "http:") throw refuse("url", "it must begin with https:// or http://");
  if (username !== "" || password !== "") throw refuse("url", "it must hold no user name or password");
  return text;
}

function readAddress(option: string, text: string | null): string {
  if (text === null || !addressPattern.test(text))
    throw refuse(option, "it must be an e-mail address: radar@example.com");
  return text;
}

function readRecipients(list: readonly string[]): readonly string[] {
  if (list.length === 0 || list.length > toMax) throw refuse("to", `it must be 1 to ${toMax} e-mail addresses`);
  return list.map((each) => readAddress("to", each));
}

export const newChannelSecret = (randomBytes: (count: number) => Uint8Array): string =>
  `whsec_${Buffer.from(randomBytes(32)).toString("base64")}`;

export const readChannel = ({ value }: { readonly value: string }): Channel => JSON.parse(value) as Channel;

export const readChannels = (settings: readonly { readonly value: string }[]): Channel[] => settings.map(readChannel);

/** The part of a channel that may be shown to anybody. */
export interface ShownChannel {
  readonly name: string;
  readonly kind: ChannelKind;
  /** Where it goes, without what is secret: of a Slack address that is all but the host. Null for the log. */
  readonly host: string | null;
  /** Tell addresses and secrets apart; neither can be found from them. */
  readonly urlMark: string | null;
  readonly secretMark: string | null;
  readonly from: string | null;
  readonly to: readonly string[];
  readonly muted: boolean;
  readonly createdAt: number;
}

export const shownChannel = ({ name, kind, url, secret, from, to, isMuted, createdAt }: Channel): ShownChannel => ({
  name,
  kind,
  host: url === null ? null : hostOf(url),
  urlMark: url === null ? null : markOf(url),
  secretMark: secret === null ? null : markOf(secret),
  from,
  to,
  muted: isMuted,
  createdAt,
});

function hostOf(url: string): string {
  const { protocol, host } = new URL(url);
  return `${protocol}//${host}`;
}

const markOf = (secret: string): string =>
  createHash("sha256").update(`idem channel ${secret}`).digest("hex").slice(0, 8);

/** Its name for people. */
export const channelTitle = ({ name, kind }: Pick<Channel, "name" | "kind">): string =>
  ({ webhook: `webhook "${name}"`, slack: `Slack "${name}"`, email: `e-mail "${name}"`, log: `log "${name}"` })[kind];

/** Another system's words about a failure, without the channel's secrets, and short. */
export function withoutSecrets(text: string, { url, secret }: Pick<Channel, "url" | "secret">): string {
  const parsed = url === null ? null : new URL(url);
  const parts = [url, secret, parsed?.password, parsed?.username, parsed?.search, parsed?.pathname].flatMap((part) =>
    part === null || part === undefined || part.length < 4 ? [] : [part, decoded(part)],
  );
  let said = text;
  for (const part of parts) said = said.replaceAll(part, "…");
  // biome-ignore lint/suspicious/noControlCharactersInRegex: what others say is shown in terminals
  return said.replace(/[\u0000-\u001f\u007f]+/g, " ").slice(0, 200);
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
