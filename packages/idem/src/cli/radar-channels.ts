// idem radar --channels, idem radar channel add|remove|test: where alerts go. An address with a password, or Slack's, is a secret: it comes
// from the environment or from standard input and is never an argument.
import { errors } from "../model/errors.ts";
import { ifOpens } from "../model/seal.ts";
import { canMail, mailMissing } from "../platform/send-mail.ts";
import { testMessage } from "../radar/channel-message.ts";
import {
  channelKind,
  channelKinds,
  channelsMax,
  channelTitle,
  makeChannel,
  newChannelSecret,
  readChannel,
  readChannels,
  shownChannel,
} from "../radar/channels.ts";
import { ownChannelAddresses, sendToChannel } from "../sdk/send-to-channel.ts";
import type { Setting } from "../store/settings.ts";
import type { Context } from "./command.ts";
import { exitCodes, usage } from "./exit.ts";
import { printable } from "./printable.ts";
import { table } from "./table.ts";
import { when } from "./times.ts";

const actions = ["add", "remove", "test"] as const;

export async function changeChannels(context: Context, action: string | undefined, name: string | undefined) {
  if (name === undefined || !actions.some((each) => each === action)) {
    throw usage(`Say what to do and with which: idem radar channel ${actions.join(" | ")} <name>.`);
  }
  switch (action as (typeof actions)[number]) {
    case "add":
      return add(context, name);
    case "remove":
      return remove(context, name);
    case "test":
      return test(context, name);
  }
}

const settingsIn = (context: Context) => context.read(({ reads }) => reads.settings(context.env, channelKind));

/** Its secrets are not looked at. */
async function find(context: Context, name: string): Promise<Setting> {
  const setting = (await settingsIn(context)).find((each) => each.name === name);
  if (setting === undefined) throw errors.CHANNEL_UNKNOWN({ channel: name });
  return setting;
}

async function add(context: Context, name: string): Promise<number> {
  const { kind, from } = context.options;
  if (kind === undefined) throw usage(`Say what kind it is: --kind ${channelKinds.join(" | ")}.`);
  const channels = await settingsIn(context);
  if (channels.some((each) => each.name === name)) {
    throw usage(`There is a channel "${printable(name)}" already; remove it first, or choose another name.`);
  }
  if (channels.length >= channelsMax) throw usage(`There are ${channelsMax} channels, which is the most there can be.`);
  const { to } = context.lists;
  const secret = newChannelSecret((count) => context.io.platform.randomBytes(count));
  const url = kind === "log" ? undefined : await urlGiven(context);
  const channel = makeChannel(name, { kind, url, from, to }, null, { secret, now: context.now() });
  const reason = context.options.reason ?? "made by idem radar channel";
  const setting = { kind: channelKind, name, value: JSON.stringify(channel), over: 0, reason };
  const answer = await context.write((ask) => ask("set", context.env, setting));
  if (answer.kind === "differs") throw usage(`Somebody else made a channel "${name}" just now.`);
  if (context.isJson) context.json({ channel: shownChannel(channel), secret: channel.secret });
  else {
    context.say(`${channelTitle(channel)} is told of every alert from now on; try it: idem radar channel test ${name}`);
    // Whoever sends may have another installation than whoever types.
    if (kind === "email" && !(await canMail()))
      context.remark(`Here ${mailMissing}; so it must be where the server runs.`);
    if (channel.secret !== null) {
      context.say(`secret: ${channel.secret}`);
      context.remark("Give it to the receiver now: it is not shown again.");
    }
  }
  return exitCodes.ok;
}

async function urlGiven(context: Context): Promise<string> {
  const variable = context.options["url-env"];
  if (variable !== undefined) {
    const url = context.io.env(variable);
    if (url === undefined || url === "") throw usage(`The environment variable ${printable(variable)} is not set.`);
    return url;
  }
  if (!context.flags.has("url-stdin")) throw usage("Give its address: --url-env <VAR>, or --url-stdin.");
  return (await context.io.readInput()).trim();
}

async function remove(context: Context, name: string): Promise<number> {
  const { reason } = context.options;
  if (reason === undefined || reason.trim() === "") {
    throw usage("Say why with --reason: whoever wonders why nobody was told will look for it.");
  }
  const found = await find(context, name);
  const title = ifOpens(() => channelTitle(readChannel(found))) ?? `channel "${name}"`;
  const setting = { kind: channelKind, name, value: null, over: null, reason };
  await context.write((ask) => ask("set", context.env, setting));
  if (context.isJson) context.json({ removed: name });
  else context.say(`${title} is told nothing more`);
  return exitCodes.ok;
}

async function test(context: Context, name: string): Promise<number> {
  const channel = readChannel(await find(context, name));
  const now = context.now();
  const { platform } = context.io;
  const id = Buffer.from(platform.randomBytes(8)).toString("hex");
  const logger = { warn: (line: unknown) => context.remark(String(line)) };
  const ports = { ...ownChannelAddresses, platform, logger };
  const answer = await sendToChannel(channel, testMessage(`${name}-test-${id}`, name, now), ports);
  const why = answer.kind === "sent" ? null : answer.why;
  if (context.isJson) context.json({ sent: why === null, why });
  else
    context.say(
      why === null ? `Sent to ${channelTitle(channel)}` : `Not sent to ${channelTitle(channel)}: ${printable(why)}`,
    );
  return why === null ? exitCodes.ok : exitCodes.failed;
}

export async function listChannels(context: Context): Promise<number> {
  const channels = readChannels(await settingsIn(context)).map(shownChannel);
  if (context.isJson) {
    context.json(channels);
    return exitCodes.ok;
  }
  if (channels.length === 0) {
    context.remark(
      "Nobody is told of alerts. Make a channel: idem radar channel add ops --kind slack --url-env SLACK_URL",
    );
    return exitCodes.ok;
  }
  const { io, paint } = context;
  const now = context.now();
  io.out.write(
    table(
      [
        { title: "CHANNEL" },
        { title: "KIND" },
        { title: "GOES TO", shrinks: true },
        { title: "STATE" },
        { title: "MADE", shrinks: true, drops: true },
      ],
      channels.map(({ name, kind, host, to, muted, createdAt }) => [
        name,
        kind,
        printable([host, ...to].filter((each) => each !== null).join(" ") || "the log"),
        muted ? "muted" : "on",
        when(createdAt, now),
      ]),
      { columns: io.out.columns, bold: paint.bold },
    ),
  );
  return exitCodes.ok;
}
