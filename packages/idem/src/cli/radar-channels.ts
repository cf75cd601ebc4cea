// idem radar --channels, idem radar channel add|remove|test: where alerts go. An address with a password, or Slack's, is a secret: it comes
// from the environment or from standard input and is never an argument.
import { channelKinds, channelsMax, channelTitle } from "../radar/channels.ts";
import { alertChannels } from "./alert-channels.ts";
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

async function add(context: Context, name: string): Promise<number> {
  const { from } = context.options;
  const kind = channelKinds.find((each) => each === context.options.kind);
  if (kind === undefined) throw usage(`Say what kind it is: --kind ${channelKinds.join(" | ")}.`);
  const channels = await alertChannels(context);
  const names = await channels.names();
  if (names.includes(name)) {
    throw usage(`There is a channel "${printable(name)}" already; remove it first, or choose another name.`);
  }
  if (names.length >= channelsMax) throw usage(`There are ${channelsMax} channels, which is the most there can be.`);
  const { to } = context.lists;
  const url = kind === "log" ? undefined : await urlGiven(context);
  const reason = context.options.reason ?? "made by idem radar channel";
  const { channel, secret, remark } = await channels.add(name, { kind, url, from, to }, reason);
  if (context.isJson) context.json({ channel, secret });
  else {
    context.say(`${channelTitle(channel)} is told of every alert from now on; try it: idem radar channel test ${name}`);
    if (remark !== null) context.remark(remark);
    if (secret !== null) {
      context.say(`secret: ${secret}`);
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
  const title = await (await alertChannels(context)).remove(name, reason);
  if (context.isJson) context.json({ removed: name });
  else context.say(`${title} is told nothing more`);
  return exitCodes.ok;
}

async function test(context: Context, name: string): Promise<number> {
  const { title, why } = await (await alertChannels(context)).test(name);
  if (context.isJson) context.json({ sent: why === null, why });
  else context.say(why === null ? `Sent to ${title}` : `Not sent to ${title}: ${printable(why)}`);
  return why === null ? exitCodes.ok : exitCodes.failed;
}

export async function listChannels(context: Context): Promise<number> {
  const channels = await (await alertChannels(context)).list();
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
