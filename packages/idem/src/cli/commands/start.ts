// idem start: a server for others. It asks for keys, and does not start without.
import { readEventQuota } from "../../server/event-quota.ts";
import type { ServerSettings } from "../../server/world.ts";
import { type NodeRole, nodeRoles } from "../../store/sharing.ts";
import type { Command, Context } from "../command.ts";
import { usage } from "../exit.ts";
import { inngestOptions, withInngestSettings } from "../inngest-flags.ts";
import { printable } from "../printable.ts";
import { givenSettings, runServer, serverOptions } from "../run-server.ts";

export const start: Command = {
  name: "start",
  summary: "run a server that asks for keys, for apps in production",
  whyNoServer: "it is a server itself; --store says where it keeps events and runs.",
  usage:
    "[--event-key <key>] [--signing-key <key>] [-u <url>] [--host <127.0.0.1>] [--port <8288>] [--store <sqlite:path>] [--role <all>]",
  words: { min: 0, max: 0 },
  options: {
    "event-key": {
      value: "key",
      isMany: true,
      help: "what senders of events show; IDEM_EVENT_KEY (several: comma between them) unless given; may be repeated",
    },
    "signing-key": {
      value: "key",
      isMany: true,
      help: "what apps and this server sign with; IDEM_SIGNING_KEY unless given; the first signs, all are accepted",
    },
    password: {
      value: "text",
      help: "what operators sign in with; IDEM_PASSWORD unless given; needed beyond loopback. IDEM_VIEWER_PASSWORD is for who may only look",
    },
    "new-secret": {
      help: "make another secret to sign in with, where no password is set; the one before ends, and its sessions",
    },
    "secure-cookies": { help: "cookies only over https, also where no proxy says that requests come that way" },
    "allow-host": {
      value: "host",
      isMany: true,
      help: "a host apps may live on although its address is private; may be repeated",
    },
    "event-quota": {
      value: "requests=10000,events=50000,bytes=64MiB,window=10s",
      help: "what may be sent with one event key in a window, then 429; IDEM_EVENT_QUOTA unless given; off for no bound",
    },
    role: {
      value: "all",
      choices: nodeRoles,
      help: "of a node among others over one PostgreSQL: api answers requests, worker executes; IDEM_ROLE unless given",
    },
    ...serverOptions,
    ...inngestOptions("start"),
    store: { value: "sqlite:<path>", help: "where facts live; IDEM_STORE, else sqlite:.idem/server.db, unless given" },
  },
  details: [
    'Make them with `idem secret make`; what can be guessed is refused. A key is for the environment "default"; `staging=<key>` is for that one.',
    "INNGEST_EVENT_KEY and INNGEST_SIGNING_KEY are read where those of Idem are not set. The environment is the better place",
    "for secrets: a command line is seen by every user of the machine.",
  ],
  examples: [
    "idem start",
    "idem start --host 0.0.0.0 -u https://shop.example/api/inngest",
    "idem start --allow-host shop.internal -u http://shop.internal:3000/api/inngest",
    "idem start --role worker",
  ],
  async run(plain) {
    const context = withInngestSettings(plain);
    const password = context.options.password ?? context.io.env("IDEM_PASSWORD");
    const viewerPassword = context.io.env("IDEM_VIEWER_PASSWORD");
    const settings = {
      ...givenSettings(context, ".idem/server.db"),
      mode: "start" as const,
      eventKeys: keysOf(context, "event-key", "EVENT_KEY"),
      signingKeys: keysOf(context, "signing-key", "SIGNING_KEY"),
      allowHosts: context.lists["allow-host"] ?? [],
      role: roleOf(context),
      ...eventQuotaOf(context),
      ...(password === undefined ? {} : { password }),
      ...(viewerPassword === undefined ? {} : { viewerPassword }),
      newSecret: context.flags.has("new-secret"),
      secureCookies: context.flags.has("secure-cookies"),
    };
    return runServer(context, settings, ({ origin }) =>
      settings.role === "worker"
        ? ["Nothing connects here: give apps the address of a node that answers requests, in INNGEST_BASE_URL."]
        : [
            "Connect an app by starting it with the keys given to this server, and",
            `  INNGEST_DEV=0 INNGEST_BASE_URL=${origin}`,
          ],
    );
  },
};

function eventQuotaOf({ options, io }: Context): Partial<ServerSettings> {
  const given = options["event-quota"] ?? (io.env("IDEM_EVENT_QUOTA") || undefined);
  if (given === undefined) return {};
  const where = options["event-quota"] === undefined ? "IDEM_EVENT_QUOTA" : "--event-quota";
  return { eventQuota: readEventQuota(given, where) };
}

function roleOf({ options, io }: Context): NodeRole {
  const given = options.role ?? (io.env("IDEM_ROLE") || "all");
  const role = nodeRoles.find((each) => each === given);
  if (role !== undefined) return role;
  const from = options.role === undefined ? "IDEM_ROLE" : "--role";
  throw usage(`${from} is "${printable(given)}"; it must be one of ${nodeRoles.join(", ")}.`);
}

function keysOf({ lists, io }: Context, option: string, variable: string): readonly string[] {
  const given = lists[option];
  if (given !== undefined) return given;
  const text = io.env(`IDEM_${variable}`) ?? io.env(`INNGEST_${variable}`) ?? "";
  return text
    .split(",")
    .map((key) => key.trim())
    .filter((key) => key !== "");
}
