// idem mcp: the store, for agents and editors that speak the Model Context Protocol. A tool is a command of this one's siblings, run in this
// process with --json, so that it finds the store, reaches its owner and is audited as they are.
import type { Tool } from "../../mcp/answer-message.ts";
import type { ToolInput, ToolName } from "../../mcp/tools.ts";
import { packageVersion } from "../../platform/package-files.ts";
import { type Command, type Context, serverOptions } from "../command.ts";
import type { Io, Stream } from "../terminal.ts";

const readOnly = 'it was started without --act: "idem mcp --act" lets tools send events and run runs again.';

/** More at once wait for their turn. */
const callsAtOnce = 8;

const option = (name: string, value: string | number | undefined): string[] =>
  value === undefined ? [] : [`--${name}=${value}`];

const commandOf: { readonly [N in ToolName]: (input: ToolInput<N>) => readonly string[] } = {
  functions: () => ["functions"],
  runs: ({ function: fn, state, limit }) => [
    "runs",
    ...option("function", fn),
    ...option("state", state),
    ...option("limit", limit),
  ],
  run: ({ run }) => ["run", run],
  events: ({ name, limit }) => ["events", ...option("name", name), ...option("limit", limit)],
  explain: ({ about, function: fn }) => ["explain", about, ...option("function", fn)],
  radar: ({ limit }) => ["radar", ...option("limit", limit)],
  doctor: () => ["doctor"],
  send: ({ name, data, id }) => ["send", name, JSON.stringify(data), ...option("id", id)],
  rerun: ({ run, from }) => ["rerun", run, ...option("from", from)],
};

export const mcp: Command = {
  name: "mcp",
  summary: "let agents and editors look into the store, by the Model Context Protocol",
  usage: "[--act]",
  words: { min: 0, max: 0 },
  options: {
    act: { help: "tools may also send events and run runs again; without it they only look" },
    store: serverOptions.store!,
    env: serverOptions.env!,
    app: serverOptions.app!,
    server: serverOptions.server!,
    "signing-key": serverOptions["signing-key"]!,
  },
  details: [
    "Speaks on standard input and output, a message a line; ends when its input ends. Tools: functions, runs, run, events, explain, radar, doctor,",
    "verify, and with --act send and rerun. What they do is in the store's audit. A server answers the same at POST /mcp.",
  ],
  examples: [
    "idem mcp",
    "idem mcp --store sqlite:.idem/shop.db",
    "idem mcp --server https://idem.example.com",
    "idem mcp --act",
  ],
  async run(context) {
    // Loaded here: only this command needs it.
    const [{ answerText }, { tools, verifyTool }] = await Promise.all([
      import("../../mcp/answer-message.ts"),
      import("../../mcp/tools.ts"),
    ]);
    const run = await commandRunner(context);
    const ofCommands = Object.entries(tools).map(([name, about]): [string, Tool] => [
      name,
      { about, call: (input) => run([...commandOf[name as ToolName](input), ...storeArgs(context)]) },
    ]);
    const verify: Tool = {
      about: verifyTool,
      call: ({ module, function: fn, budget }: { module: string; function?: string; budget: string }) =>
        run(["verify", module, "--generate", ...option("function", fn), ...option("budget", budget)]),
    };
    const server = {
      version: packageVersion(),
      tools: { ...Object.fromEntries(ofCommands), verify },
      whyNoActs: context.flags.has("act") ? null : readOnly,
    };
    const underWay = new Set<Promise<void>>();
    for await (const line of context.io.lines()) {
      const answering: Promise<void> = answerText(server, line)
        .then((answer) => {
          if (answer !== null) context.io.out.write(`${JSON.stringify(answer)}\n`);
        })
        .finally(() => underWay.delete(answering));
      underWay.add(answering);
      if (underWay.size >= callsAtOnce) await Promise.race(underWay);
    }
    await Promise.all(underWay);
    return 0;
  },
};

const storeArgs = ({ options }: Context): string[] =>
  ["store", "env", "app", "server", "signing-key"].flatMap((name) => option(name, options[name]));

/** Runs a command as a person would, and gives what it printed. */
async function commandRunner({ io }: Context): Promise<(args: readonly string[]) => Promise<unknown>> {
  const { main } = await import("../main.ts");
  return async (args) => {
    const written = { out: "", err: "" };
    const keep = (stream: keyof typeof written): Stream => ({
      write: (text) => {
        written[stream] += text;
      },
      isTerminal: false,
      columns: null,
    });
    const own: Io = { ...io, out: keep("out"), err: keep("err") };
    const code = await main([...args, "--json"], own);
    try {
      const value: unknown = JSON.parse(written.out);
      return Array.isArray(value) ? { [args[0]!]: value } : value;
    } catch {
      throw new Error(written.err.trim() || `idem ${args[0]} ended with ${code} and said nothing.`);
    }
  };
}
