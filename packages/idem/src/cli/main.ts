// The command line. It finds the command, reads its options, and turns how it ended into an exit code and one message.
import { parseArgs } from "node:util";
import { IdemError } from "../model/errors.ts";
import { nearestWord } from "../model/nearest-word.ts";
import { readPackageText } from "../platform/package-files.ts";
import type { Command, Context } from "./command.ts";
import { allCommands, commandNames, findCommand } from "./commands.ts";
import { exitCodeOf, exitCodes, Refusal, usage } from "./exit.ts";
import { findStore, locateStore } from "./find-store.ts";
import { commandHelp, generalHelp, usageLine } from "./help.ts";
import type { ReadAddress } from "./open-reading.ts";
import { paintFor } from "./paint.ts";
import { printable, withoutSecrets } from "./printable.ts";
import { type Io, terminal } from "./terminal.ts";

export async function main(args: readonly string[], io: Io = terminal()): Promise<number> {
  try {
    return await runCommand(args, io);
  } catch (error) {
    report(error, io);
    // One that could not even be loaded says no more about itself.
    const command = await findCommand(args[0] ?? "").catch(() => null);
    return command?.exits?.unable ?? exitCodeOf(error);
  }
}

async function runCommand(args: readonly string[], io: Io): Promise<number> {
  const [name, ...rest] = args;
  if (name === undefined || name === "--help" || name === "-h" || (name === "help" && rest.length === 0)) {
    io.out.write(generalHelp(await allCommands()));
    return exitCodes.ok;
  }
  if (name === "--version" || name === "-v") {
    const { version } = JSON.parse(readPackageText("../package.json")) as { version: string };
    io.out.write(`${version}\n`);
    return exitCodes.ok;
  }
  const wanted = name === "help" ? rest[0]! : name;
  const command = await findCommand(wanted);
  if (command === null) throw unknownCommand(wanted);
  if (name === "help" || rest.includes("--help") || rest.includes("-h")) {
    io.out.write(commandHelp(command));
    return exitCodes.ok;
  }
  return command.run(contextOf(command, rest, io));
}

function unknownCommand(name: string): Refusal {
  if (name.startsWith("-")) {
    return usage(`Options stand after the command: idem <command> ${printable(name)} … Try "idem --help".`);
  }
  const near = nearestWord(name, commandNames);
  const hint = near === null ? "" : ` Did you mean "${near}"?`;
  return usage(`There is no command "${printable(name)}".${hint} Try "idem --help".`);
}

function contextOf(command: Command, args: readonly string[], io: Io): Context {
  const { words, values } = parse(command, args);
  const { min, max } = command.words;
  if (words.length < min || words.length > max) {
    const what = words.length < min ? "Something is missing" : `"${printable(words[max]!)}" is one word too many`;
    throw usage(`${what}. Usage: ${usageLine(command)}. Try "idem ${command.name} --help".`);
  }
  const options: Record<string, string | undefined> = {};
  const lists: Record<string, readonly string[]> = {};
  const flags = new Set<string>();
  for (const [key, value] of Object.entries(values)) {
    if (typeof value === "string") options[key] = value;
    else if (Array.isArray(value)) lists[key] = value as string[];
    else if (value === true) flags.add(key);
  }
  const env = options.env ?? "default";
  const storeAddress = () => locateStore(io, options.store);
  const readAddress = (): ReadAddress => {
    const elsewhere = serverMeant(command, options, io);
    return elsewhere === null ? storeAddress() : { kind: "elsewhere", url: elsewhere, key: options["signing-key"] };
  };
  return {
    io,
    words,
    options,
    lists,
    flags,
    env,
    isJson: flags.has("json"),
    paint: paintFor(io, io.out),
    now: () => io.platform.wallMs(),
    storeAddress,
    storePath: () => findStore(io, options.store),
    // Loaded where they are used: the stores are most of what a command loads.
    read: async (body, other = env) => {
      const { readStore } = await import("./open-reading.ts");
      return readStore(io, { address: readAddress(), env: other, app: options.app }, body);
    },
    server: async () => {
      const address = readAddress();
      if (address.kind !== "elsewhere") return null;
      const { lineTo } = await import("./server-line.ts");
      return lineTo(io, address, env);
    },
    write: async (body) => {
      const { writeStore } = await import("./reach-owner.ts");
      return writeStore(io, { address: readAddress(), app: options.app, env }, body);
    },
    say: (line) => io.out.write(`${line}\n`),
    json: (value) => io.out.write(`${JSON.stringify(value, null, 2)}\n`),
    remark: (line) => io.err.write(`${line}\n`),
  };
}

/** --server, else, where no store is named, IDEM_SERVER: an app whose server is elsewhere has no store of its own. */
function serverMeant(
  command: Command,
  { server, store }: Readonly<Record<string, string | undefined>>,
  io: Io,
): string | null {
  if (server !== undefined) {
    if (store !== undefined) throw usage("Give --server or --store, not both.");
    return server;
  }
  if (command.options.server === undefined || store !== undefined || (io.env("IDEM_STORE") ?? "") !== "") return null;
  return io.env("IDEM_SERVER") || null;
}

function parse(command: Command, args: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(command.options).map(([name, { value, short, isMany }]) => [
      name,
      {
        type: value === undefined ? ("boolean" as const) : ("string" as const),
        multiple: isMany === true,
        ...(short === undefined ? {} : { short }),
      },
    ]),
  );
  try {
    const { positionals, values } = parseArgs({
      args: withEmptyValues(command, args),
      options,
      allowPositionals: true,
      strict: true,
    });
    return { words: positionals, values };
  } catch (error) {
    const [what] = (error as Error).message.split(". ");
    if (/^Unknown option '--server'/.test(what!) && command.whyNoServer !== undefined) {
      throw usage(`idem ${command.name} takes no --server: ${command.whyNoServer}`);
    }
    const [, strange] = what!.match(/^Unknown option '--([^'=]+)/) ?? [];
    const near = strange === undefined ? null : nearestWord(strange, Object.keys(options));
    const hint = near === null ? "" : ` Did you mean --${near}?`;
    throw usage(`${printable(what!)}.${hint} Usage: ${usageLine(command)}. Try "idem ${command.name} --help".`);
  }
}

/** Where a value was left out that may be, an empty one. */
const withEmptyValues = (command: Command, args: readonly string[]): string[] =>
  args.map((arg, i) => {
    const looks = arg.startsWith("--") ? command.options[arg.slice(2)]?.looks : undefined;
    return looks === undefined || looks.test(args[i + 1] ?? "") ? arg : `${arg}=`;
  });

function report(error: unknown, io: Io): void {
  const paint = paintFor(io, io.err);
  const message = error instanceof Error ? error.message : String(error);
  io.err.write(`${paint.red("idem:")} ${printable(withoutSecrets(message))}\n`);
  if (io.env("IDEM_DEBUG") === "1" && error instanceof Error) {
    io.err.write(withoutSecrets(`${error.stack}\n`));
    if (error.cause instanceof Error) io.err.write(withoutSecrets(`caused by ${error.cause.stack}\n`));
  } else if (!(error instanceof Refusal) && !(error instanceof IdemError)) {
    io.err.write("This was not expected. IDEM_DEBUG=1 shows where it happened.\n");
  }
}
