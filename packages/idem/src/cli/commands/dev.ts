// idem dev: a server for the machine one develops on. It asks for no key and looks for apps by itself.
import type { Command } from "../command.ts";
import { inngestOptions, withInngestSettings } from "../inngest-flags.ts";
import { givenSettings, runServer, serverOptions } from "../run-server.ts";

export const dev: Command = {
  name: "dev",
  summary: "run a server on this machine for apps in development; asks for no keys",
  whyNoServer: "it is a server itself; --store says where it keeps events and runs.",
  usage:
    "[-u <url>] [--port <8288>] [--store <address>] [--no-discovery] [--no-poll] [--host <0.0.0.0> --anyone-may-act] [--allow-host <name>]",
  words: { min: 0, max: 0 },
  options: {
    ...serverOptions,
    ...inngestOptions("dev"),
    store: {
      value: "address",
      help: "where facts live, sqlite:<path> or postgres://…; IDEM_STORE, else sqlite:.idem/dev.db, unless given",
    },
    "no-discovery": { help: "do not look for apps on this machine" },
    "anyone-may-act": {
      help: "with --host beyond loopback: whoever reaches this server acts as its operator, without a key",
    },
    "allow-host": {
      value: "name",
      isMany: true,
      help: "a name other than localhost by which this server may be called, such as host.docker.internal; may be repeated",
    },
    "no-poll": { help: "do not ask known apps whether their functions changed" },
  },
  details: [
    "An app written with the Inngest SDK (4.x) is connected with INNGEST_DEV=http://127.0.0.1:8288, unchanged.",
    "Apps are found on the usual local ports and paths; one that lives elsewhere is named with -u.",
  ],
  examples: [
    "idem dev",
    "idem dev -u http://localhost:3000/api/inngest",
    "idem dev --port 9000 --store sqlite:./scratch.db --no-discovery",
  ],
  async run(plain) {
    const context = withInngestSettings(plain);
    const { flags, options } = context;
    const settings = {
      ...givenSettings(context, ".idem/dev.db"),
      mode: "dev" as const,
      discovery: !flags.has("no-discovery"),
      poll: !flags.has("no-poll"),
      allowHosts: context.lists["allow-host"] ?? [],
      anyoneMayAct: flags.has("anyone-may-act"),
    };
    if (settings.anyoneMayAct && options.host !== undefined) {
      context.remark(
        `Whoever reaches ${options.host} can do everything here: dev asks for no key. Use idem start for others.`,
      );
    }
    return runServer(context, settings, ({ origin }) => [
      "Connect an app by starting it with",
      `  INNGEST_DEV=${origin}`,
    ]);
  },
};
