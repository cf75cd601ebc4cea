// Flags of the Inngest dev server and of its `start` that people have in scripts, as its public documentation lists them. The commands,
// their help, docs/cli.md and a test read this table. Flags of the same name and meaning here are in run-server.ts.
import type { Context, Option } from "./command.ts";

type ServerCommand = "dev" | "start";

interface InngestFlag {
  readonly name: string;
  /** The name of its value; a flag without one is a switch. */
  readonly value?: string;
  readonly short?: string;
  readonly of: readonly ServerCommand[];
  /** What it does here. */
  readonly honored?: string;
  /** Why Idem has no such setting. */
  readonly ignored?: string;
}

const both = ["dev", "start"] as const;

export const inngestFlags: readonly InngestFlag[] = [
  { name: "queue-workers", value: "100", of: both, honored: "same as --runs-in-flight" },
  { name: "in-memory", of: ["dev"], honored: "same as --store memory:" },
  { name: "persist", of: ["dev"], honored: "accepted; the default store is a file already" },
  {
    name: "log-level",
    value: "info",
    short: "l",
    of: both,
    honored: "lowest level to log: trace, debug, info, warn, error",
  },
  { name: "verbose", short: "v", of: both, honored: "same as --log-level debug" },
  { name: "tick", value: "ms", of: both, ignored: "a due run wakes the server, so no queue is polled" },
  {
    name: "poll-interval",
    value: "seconds",
    of: both,
    ignored: "dev polls apps every 5 s (see --no-poll), start never does",
  },
  { name: "connect-gateway-port", value: "port", of: both, ignored: "workers connect to the port of the server" },
  { name: "config", value: "path", of: both, ignored: "settings are flags and environment variables" },
  { name: "json", of: both, ignored: "the log of the server is text" },
  { name: "redis-uri", value: "uri", of: ["start"], ignored: "queue and run state are in the store" },
  {
    name: "postgres-conn-max-idle-time",
    value: "minutes",
    of: ["start"],
    ignored: "the store manages its connections",
  },
  { name: "postgres-conn-max-lifetime", value: "minutes", of: ["start"], ignored: "the store manages its connections" },
  { name: "postgres-max-idle-conns", value: "count", of: ["start"], ignored: "the store manages its connections" },
  { name: "postgres-max-open-conns", value: "count", of: ["start"], ignored: "the store manages its connections" },
  { name: "no-ui", of: ["start"], ignored: "the dashboard requires a sign-in" },
];

/** Variables of the Inngest server, by the option they fill when the command line does not have it. */
export const inngestVariables = {
  port: "INNGEST_PORT",
  host: "INNGEST_HOST",
  "sdk-url": "INNGEST_SDK_URL",
  "retry-interval": "INNGEST_RETRY_INTERVAL",
  "queue-workers": "INNGEST_QUEUE_WORKERS",
  "log-level": "INNGEST_LOG_LEVEL",
} as const;

export const inngestOptions = (command: ServerCommand): Readonly<Record<string, Option>> =>
  Object.fromEntries(
    inngestFlags
      .filter(({ of }) => of.includes(command))
      .map(({ name, value, short, honored, ignored }) => [
        name,
        {
          help: honored ?? `ignored: ${ignored}`,
          ...(value === undefined ? {} : { value }),
          ...(short === undefined ? {} : { short }),
        },
      ]),
  );

/** The context with variables filled in, after one warning for each flag that has no effect. */
export function withInngestSettings(context: Context): Context {
  for (const { name, ignored } of inngestFlags) {
    const isGiven = context.flags.has(name) || context.options[name] !== undefined;
    // Without the value: a URI may hold a password.
    if (isGiven && ignored !== undefined) context.remark(`warning: Idem has no setting --${name}: ${ignored}.`);
  }
  const options: Record<string, string | undefined> = { ...context.options };
  const lists: Record<string, readonly string[] | undefined> = { ...context.lists };
  for (const [name, variable] of Object.entries(inngestVariables)) {
    const text = context.io.env(variable)?.trim() ?? "";
    if (text === "") continue;
    if (name === "sdk-url") lists[name] ??= text.split(/[\s,]+/).filter((url) => url !== "");
    else options[name] ??= text;
  }
  return { ...context, options, lists };
}
