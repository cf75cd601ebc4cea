// One message to one channel, once: as a signed webhook, to Slack or what understands it, as an e-mail, or as a line of the log. Being
// refused is an answer; trying again is the courier's.
import { createHash, createHmac } from "node:crypto";
import type { LookupFunction } from "node:net";
import type { Logger } from "../execute/function-code.ts";
import { rangeOf } from "../model/ip-range.ts";
import { printable } from "../model/printable.ts";
import { guardedLookup } from "../platform/guarded-lookup.ts";
import { openHttpCalls } from "../platform/node-http.ts";
import type { Platform } from "../platform/platform.ts";
import { sendMail } from "../platform/send-mail.ts";
import type { SendAnswer } from "../radar/alert-courier.ts";
import { type ChannelMessage, messageText } from "../radar/channel-message.ts";
import { type Channel, withoutSecrets } from "../radar/channels.ts";

const connectMsMax = 5_000;
const answerMsMax = 10_000;
const answerBytesMax = 64 * 1024;
// Slack's own limit of a section's text is 3,000; a title fits a telephone.
const slackTextMax = 2_900;
const subjectCharsMax = 200;

export interface ChannelPorts {
  /** Its wall clock is what receivers compare with theirs. */
  readonly platform: Pick<Platform, "wallMs" | "timer">;
  readonly logger: Pick<Logger, "warn">;
  /** Says why an address may not be sent to; null when it may. Everything may unless given. */
  readonly refuses?: (url: string) => string | null;
  /** Judges a name's addresses at the moment of connecting. */
  readonly lookup?: LookupFunction;
  /** Aborts once the answer is no longer needed. */
  readonly signal?: AbortSignal;
}

export async function sendToChannel(channel: Channel, given: ChannelMessage, ports: ChannelPorts): Promise<SendAnswer> {
  // Names of events and fields, and values, are senders' words: each stays on the line it is quoted in.
  const message = { ...given, title: printable(given.title), lines: given.lines.map(printable) };
  try {
    const why = channel.url === null ? null : (ports.refuses?.(channel.url) ?? null);
    if (why !== null) return { kind: "failed", why };
    switch (channel.kind) {
      case "webhook":
        return await post(channel, webhookBody(message), signed(channel, message, ports.platform.wallMs()), ports);
      case "slack":
        return await post(channel, slackBody(message), {}, ports);
      case "email":
        return await mail(channel, message, ports);
      case "log":
        ports.logger.warn(`idem: ${messageText(message).trim().replaceAll(/\n+/g, ". ")}`);
        return { kind: "sent" };
    }
  } catch (error) {
    return { kind: "failed", why: withoutSecrets(messageOf(error), channel) };
  }
}

function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return "it failed";
  if (error.name === "AbortError") return "it did not answer in time";
  const { code } = error as { code?: unknown };
  if (error.message !== "") return error.message;
  // Several addresses were tried: the error of each is in a list, the whole has none.
  return typeof code === "string" ? code : error.name;
}

async function post(
  { url }: Channel,
  body: string,
  headers: Record<string, string>,
  { platform, lookup, signal }: ChannelPorts,
): Promise<SendAnswer> {
  // Also for one that answers a byte at a time.
  const late = new AbortController();
  const timer = platform.timer(connectMsMax + answerMsMax, () => late.abort(), { background: true });
  const http = openHttpCalls({
    socketsPerHost: 1,
    connectMsMax,
    callMsMax: answerMsMax,
    ...(lookup === undefined ? {} : { lookup }),
  });
  try {
    const { status } = await http.call({
      url: url!,
      method: "POST",
      headers: { "content-type": "application/json", "user-agent": "idem-radar", ...headers },
      body,
      bodyBytesMax: answerBytesMax,
      signal: signal === undefined ? late.signal : AbortSignal.any([late.signal, signal]),
    });
    return status >= 200 && status < 300 ? { kind: "sent" } : { kind: "failed", why: `it answered ${status}` };
  } finally {
    timer.cancel();
    http.close();
  }
}

const webhookBody = ({ type, at, data }: ChannelMessage): string =>
  JSON.stringify({ type, timestamp: new Date(at).toISOString(), data });

/** Standard Webhooks: `id.timestamp.body`, by the secret behind `whsec_`. Toolkit receivers verify it as `standardWebhooks`. */
function signed({ secret }: Channel, message: ChannelMessage, now: number): Record<string, string> {
  const stamp = Math.floor(now / 1_000);
  const key = Buffer.from(secret!.slice("whsec_".length), "base64");
  const signature = createHmac("sha256", key)
    .update(`${message.id}.${stamp}.${webhookBody(message)}`)
    .digest("base64");
  return { "webhook-id": message.id, "webhook-timestamp": String(stamp), "webhook-signature": `v1,${signature}` };
}

/** Plain text: what stands in a payload must not call everybody of a channel or look like a link. */
function slackBody({ title, lines }: ChannelMessage): string {
  const section = (text: string) => ({
    type: "section",
    text: { type: "plain_text", text: text.slice(0, slackTextMax), emoji: false },
  });
  const text = calmed(title.slice(0, slackTextMax));
  return JSON.stringify({ text, blocks: [section(title), section(lines.join("\n"))] });
}

/**
 * Slack reads markup between angle brackets. Others that take Slack's form (Mattermost, Discord) read this text as Markdown, with mentions of
 * everyone; a character without a width keeps them from it.
 */
const calmed = (text: string): string =>
  text
    .replaceAll("&", "&amp;")
    .replaceAll("<", "&lt;")
    .replaceAll(">", "&gt;")
    .replaceAll(/@|\](?=\()|:(?=\/\/)/g, "$&\u200b");

async function mail(channel: Channel, message: ChannelMessage, { lookup }: ChannelPorts): Promise<SendAnswer> {
  const { url, from, to } = channel;
  const domain = from!.slice(from!.lastIndexOf("@") + 1);
  await sendMail(
    {
      url: url!,
      from: from!,
      to,
      subject: message.title.slice(0, subjectCharsMax),
      text: messageText(message),
      messageId: `<${createHash("sha256").update(message.id).digest("hex").slice(0, 32)}@${domain}>`,
    },
    { connectMsMax, silenceMsMax: answerMsMax, ...(lookup === undefined ? {} : { lookup }) },
  );
  return { kind: "sent" };
}

/**
 * The addresses the radar may send to from an application's own process, and from a terminal. A server refuses private ones, because a person
 * who may set up a channel there need not be let into its network (server/app-address.ts). Here the process is the application's: its code
 * reaches that network anyway, and a chat server beside it is an ordinary place for alerts. An address that hands out the credentials of a
 * cloud's machine is no place for alerts anywhere.
 */
export const ownChannelAddresses: Required<Pick<ChannelPorts, "refuses" | "lookup">> = {
  refuses: (url) => {
    const host = new URL(url).hostname.replace(/^\[(.*)\]$/, "$1");
    return rangeOf(host) === "never" ? `nobody can be told at ${host}` : null;
  },
  lookup: guardedLookup((_, address) => rangeOf(address) !== "never"),
};
