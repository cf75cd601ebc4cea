// Channels, and what became of telling them, as /api shows them: never with what is secret.
import { z } from "zod";
import { channelKinds, type ShownChannel } from "../../radar/channels.ts";

export const channelItem = z.object({
  name: z.string(),
  kind: z.enum(channelKinds),
  host: z.string().nullable().describe("Where it goes, without path and password; null for the log"),
  urlMark: z.string().nullable().describe("Tells addresses apart; the address itself is never shown again"),
  secretMark: z.string().nullable().describe("Tells secrets apart; only webhooks have one"),
  from: z.string().nullable(),
  to: z.array(z.string()),
  muted: z.boolean(),
  createdAt: z.number().int(),
});

export const channelItemOf = (shown: ShownChannel): z.input<typeof channelItem> => ({ ...shown, to: [...shown.to] });

export const deliveryItem = z.object({
  channel: z.string(),
  state: z.enum(["sent", "failed", "trying"]),
  at: z.number().int().describe("When it was sent or given up; while it is tried, when the next try is due"),
  tries: z.number().int(),
  why: z.string().nullable(),
  words: z.string().describe("The same in one sentence"),
});
