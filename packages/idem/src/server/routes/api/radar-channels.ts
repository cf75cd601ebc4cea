// /api/radar/channels: where alerts go. An address and its secrets are written, never read back.
import { z } from "zod";
import { errors } from "../../../model/errors.ts";
import { canMail, mailMissing } from "../../../platform/send-mail.ts";
import { testMessage } from "../../../radar/channel-message.ts";
import {
  channelKind,
  channelKinds,
  channelsMax,
  makeChannel,
  newChannelSecret,
  readChannel,
  readChannels,
  shownChannel,
} from "../../../radar/channels.ts";
import { sendToChannel } from "../../../sdk/send-to-channel.ts";
import type { Store } from "../../../store/store.ts";
import { apiRoute } from "../../api/api-route.ts";
import { reasonField } from "../../api/reason.ts";
import { channelAddresses } from "../../app-address.ts";
import { channelItem, channelItemOf } from "../../radar/channel-shape.ts";

const tag = "radar";
const reason = reasonField.describe("Why; kept in the audit");
const settingsIn = (store: Store, env: string) => store.reads.settings(env, channelKind);

/** Its secrets are not looked at. */
async function findChannel(store: Store, env: string, name: string) {
  const setting = (await settingsIn(store, env)).find((each) => each.name === name);
  if (setting === undefined) throw errors.CHANNEL_UNKNOWN({ channel: name });
  return setting;
}

export const listChannels = apiRoute({
  method: "GET",
  path: "/api/radar/channels",
  summary: "List the channels alerts are sent to",
  tag,
  answer: z.object({ channels: z.array(channelItem) }),
  handle: async ({ engine, env }) => ({
    channels: readChannels(await settingsIn(engine.store, env)).map((channel) => channelItemOf(shownChannel(channel))),
  }),
});

export const putChannel = apiRoute({
  method: "PUT",
  path: "/api/radar/channels/:channel",
  summary: "Make a channel, or change one: what is not given stays",
  tag,
  body: {
    kind: z.enum(channelKinds).optional(),
    url: z
      .string()
      .min(1)
      .max(2_048)
      .optional()
      .describe("`https://…`; for e-mail `smtps://user:password@host:465`. Never shown again"),
    from: z.string().max(320).optional().describe("E-mail: from whom"),
    to: z.array(z.string().max(320)).max(20).optional().describe("E-mail: to whom"),
    muted: z.boolean().optional(),
    reason,
  },
  answer: z.object({
    channel: channelItem,
    secret: z
      .string()
      .nullable()
      .describe("Of a new webhook, shown this once: deliveries are signed with it (Standard Webhooks)"),
  }),
  handle: async ({ params, body, engine, env, now, world, actor }) => {
    const { reason: why, ...input } = body;
    const { store } = engine;
    const channels = await settingsIn(store, env);
    const found = channels.find(({ name }) => name === params.channel);
    const known = found === undefined ? null : readChannel(found);
    if (known === null && channels.length >= channelsMax) {
      const full = `there are ${channelsMax} channels, which is the most an environment can have`;
      throw errors.REQUEST_INVALID({ why: full });
    }
    const secret = newChannelSecret((count) => world.platform.randomBytes(count));
    const channel = makeChannel(params.channel!, input, known, { secret, now });
    const refused = channel.url === null ? null : channelAddresses(world.settings).refuses(channel.url);
    if (refused !== null) throw errors.OPTION_INVALID({ option: "url", why: refused });
    if (channel.kind === "email" && !(await canMail()))
      throw errors.OPTION_INVALID({ option: "kind", why: mailMissing });
    const setting = { env, kind: channelKind, name: channel.name, over: null, reason: why, actor: actor.name };
    await store.set({ ...setting, value: JSON.stringify(channel) });
    return {
      channel: channelItemOf(shownChannel(channel)),
      secret: channel.secret === secret ? secret : null,
    };
  },
});

export const removeChannel = apiRoute({
  method: "DELETE",
  path: "/api/radar/channels/:channel",
  summary: "Remove a channel; what it was told stays told",
  tag,
  body: { reason },
  answer: z.object({ removed: z.string() }),
  handle: async ({ params, body, engine, env, actor }) => {
    const { name } = await findChannel(engine.store, env, params.channel!);
    const setting = { env, kind: channelKind, name, value: null, over: null };
    await engine.store.set({ ...setting, reason: body.reason, actor: actor.name });
    return { removed: name };
  },
});

export const testChannel = apiRoute({
  method: "POST",
  path: "/api/radar/channels/:channel/test",
  summary: "Send a test message, once, and say what happened",
  tag,
  answer: z.object({
    sent: z.boolean(),
    why: z.string().nullable().describe("Why not; null when it was sent"),
  }),
  handle: async ({ params, engine, env, now, world, actor }) => {
    const channel = readChannel(await findChannel(engine.store, env, params.channel!));
    const message = testMessage(`${channel.name}-test-${engine.newId()}`, channel.name, now);
    const addresses = channelAddresses(world.settings);
    const { platform, logger } = world;
    const answer = await sendToChannel(channel, message, { ...addresses, platform, logger });
    const why = answer.kind === "sent" ? null : answer.why;
    const audited = { env, action: "test-channel", subject: channel.name, actor: actor.name } as const;
    await engine.store.audit({ ...audited, reason: why === null ? "sent" : `not sent: ${why}` });
    return { sent: why === null, why };
  },
});
