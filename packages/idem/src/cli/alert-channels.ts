// Alert channels, as a command changes them: settings of the store it is beside, or those of a server elsewhere. An address goes there and never comes back.
import { errors } from "../model/errors.ts";
import { ifOpens } from "../model/seal.ts";
import { canMail, mailMissing } from "../platform/send-mail.ts";
import { testMessage } from "../radar/channel-message.ts";
import {
  type ChannelInput,
  type ChannelKind,
  channelKind,
  channelTitle,
  makeChannel,
  newChannelSecret,
  readChannel,
  readChannels,
  type ShownChannel,
  shownChannel,
} from "../radar/channels.ts";
import { ownChannelAddresses, sendToChannel } from "../sdk/send-to-channel.ts";
import type { Context } from "./command.ts";
import { usage } from "./exit.ts";
import type { ServerLine } from "./server-line.ts";

export interface AlertChannels {
  list(): Promise<readonly ShownChannel[]>;
  /** Names there are, also of those whose seal cannot be opened here. */
  names(): Promise<readonly string[]>;
  add(
    name: string,
    input: ChannelInput & { readonly kind: ChannelKind },
    reason: string,
  ): Promise<{ readonly channel: ShownChannel; readonly secret: string | null; readonly remark: string | null }>;
  /** Gives its title. Throws CHANNEL_UNKNOWN, as the one after it. */
  remove(name: string, reason: string): Promise<string>;
  /** Why nothing was sent; null when something was. */
  test(name: string): Promise<{ readonly title: string; readonly why: string | null }>;
}

export async function alertChannels(context: Context): Promise<AlertChannels> {
  const server = await context.server();
  return server === null ? beside(context) : elsewhere(server);
}

function beside(context: Context): AlertChannels {
  const settings = () => context.read(({ reads }) => reads.settings(context.env, channelKind));
  const set = (name: string, value: string | null, over: number | null, reason: string) =>
    context.write((ask) => ask("set", context.env, { kind: channelKind, name, value, over, reason }));
  /** Its secrets are not looked at. */
  const find = async (name: string) => {
    const setting = (await settings()).find((each) => each.name === name);
    if (setting === undefined) throw errors.CHANNEL_UNKNOWN({ channel: name });
    return setting;
  };
  const { platform } = context.io;
  return {
    list: async () => readChannels(await settings()).map(shownChannel),
    names: async () => (await settings()).map(({ name }) => name),
    add: async (name, input, reason) => {
      const secret = newChannelSecret((count) => platform.randomBytes(count));
      const channel = makeChannel(name, input, null, { secret, now: context.now() });
      const answer = await set(name, JSON.stringify(channel), 0, reason);
      if (answer.kind === "differs") throw usage(`Somebody else made a channel "${name}" just now.`);
      // The server that sends may have another installation than this machine.
      const isMute = input.kind === "email" && !(await canMail());
      const remark = isMute ? `Here ${mailMissing}; so it must be where the server runs.` : null;
      return { channel: shownChannel(channel), secret: channel.secret, remark };
    },
    remove: async (name, reason) => {
      const found = await find(name);
      await set(name, null, null, reason);
      return ifOpens(() => channelTitle(readChannel(found))) ?? `channel "${name}"`;
    },
    test: async (name) => {
      const channel = readChannel(await find(name));
      const id = Buffer.from(platform.randomBytes(8)).toString("hex");
      const logger = { warn: (line: unknown) => context.remark(String(line)) };
      const ports = { ...ownChannelAddresses, platform, logger };
      const answer = await sendToChannel(channel, testMessage(`${name}-test-${id}`, name, context.now()), ports);
      return { title: channelTitle(channel), why: answer.kind === "sent" ? null : answer.why };
    },
  };
}

function elsewhere(line: ServerLine): AlertChannels {
  const list = async (): Promise<readonly ShownChannel[]> =>
    (await line.ask("GET /api/radar/channels", { what: "The channels" }))?.channels ?? [];
  const find = async (name: string): Promise<ShownChannel> => {
    const found = (await list()).find((each) => each.name === name);
    if (found === undefined) throw errors.CHANNEL_UNKNOWN({ channel: name });
    return found;
  };
  const ofChannel = (channel: string) => ({ params: { channel }, what: `Channel "${channel}"`, once: true });
  const known = <A>(channel: string, answer: A | null): A => {
    if (answer === null) throw errors.CHANNEL_UNKNOWN({ channel });
    return answer;
  };
  return {
    list,
    names: async () => (await list()).map(({ name }) => name),
    add: async (name, { kind, url, from, to }, reason) => {
      const body = {
        kind,
        ...(url === undefined ? {} : { url }),
        ...(from === undefined ? {} : { from }),
        ...(to === undefined ? {} : { to: [...to] }),
        reason,
      };
      const answer = known(name, await line.ask("PUT /api/radar/channels/:channel", { ...ofChannel(name), body }));
      return { ...answer, remark: null };
    },
    remove: async (name, reason) => {
      const title = channelTitle(await find(name));
      known(name, await line.ask("DELETE /api/radar/channels/:channel", { ...ofChannel(name), body: { reason } }));
      return title;
    },
    test: async (name) => {
      const title = channelTitle(await find(name));
      const { why } = known(name, await line.ask("POST /api/radar/channels/:channel/test", ofChannel(name)));
      return { title, why };
    },
  };
}
