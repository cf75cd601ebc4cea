// The app that `idem verify -u` looks at: started here, watched, killed and started again; or left as it is, of which nothing can be said.

import { killAll, serveModules } from "../verify/app/app-process.ts";
import { AppNotReady, AppWorlds, type AppWorldsOptions } from "../verify/app/app-worlds.ts";
import { appliesToApp, rankOfApp } from "../verify/app/applies.ts";
import { programPath, programPort } from "../verify/app/control-messages.ts";
import type { PlayingThreads } from "../verify/playing-threads.ts";
import type { VerifyProgramOptions } from "../verify/verify-program.ts";
import type { Context } from "./command.ts";
import { cannot, loadConfiguration, type Program } from "./load-program.ts";
import { printable } from "./printable.ts";
import type { PrepareDatabases } from "./verify-databases.ts";

/** A framework in development compiles the route when it is first asked, which takes it tens of seconds. */
const startMsMax = 90_000;

/** For an app's functions: each world takes a process or more, so all of them are within the budget; a change cannot be tried. */
export const asApp: NonNullable<VerifyProgramOptions["how"]> = {
  isEveryWorldBudgeted: true,
  mends: false,
  picks: appliesToApp,
  rank: rankOfApp,
};

export interface OpenedApp {
  readonly program: Program;
  readonly threads: Pick<PlayingThreads, "ask">;
  close(): Promise<void>;
}

/** The app that `-u` names. */
export async function openApp(
  context: Context,
  url: URL,
  threads: PlayingThreads,
  prepare: PrepareDatabases,
): Promise<OpenedApp> {
  const { options, words } = context;
  if (words.length > 0) {
    throw cannot(
      `"${printable(words[0]!)}" is a module, and -u verifies an app that serves its functions: give one of the two.`,
    );
  }
  const configuration = await loadConfiguration(context, threads);
  const { start: command } = options;
  const databases = command === undefined ? [] : await prepare(configuration);
  return openWorlds(context, url, { command: command ?? [], databases }, async (worlds) => {
    const functions = command === undefined ? await worlds.describeRunning() : await worlds.describe();
    if (functions.length === 0) throw cannot(`The app at ${url.href} serves no function.`);
    const [{ app, env }] = functions as [(typeof functions)[number]];
    const program = { modules: [], functions, configuration, clients: [{ app, env }], databases };
    return { program, threads: command === undefined ? { ask: notStarted(url) } : worlds };
  });
}

/** `--process`: the program's functions, each client's served in processes of their own. */
export async function openProcesses(context: Context, program: Program): Promise<OpenedApp> {
  const apps = [...new Set(program.functions.map(({ app }) => app))];
  if (apps.length > 1) {
    throw cannot(
      `--process takes the functions of one client, and there are those of ${apps.join(", ")}: name their modules one after the other.`,
    );
  }
  const url = new URL(`http://127.0.0.1:${programPort}${programPath}0`);
  const command = [process.execPath, ...serveModules(program.modules)];
  return openWorlds(context, url, { command, databases: program.databases }, async (worlds) => {
    const served = await worlds.describe();
    // The modules know where they are defined.
    const functions = program.functions.filter(({ fn }) => served.some((each) => each.fn === fn));
    return { program: { ...program, functions }, threads: worlds };
  });
}

async function openWorlds(
  context: Context,
  url: URL,
  started: Pick<AppWorldsOptions, "command" | "databases">,
  open: (worlds: AppWorlds) => Promise<Omit<OpenedApp, "close">>,
): Promise<OpenedApp> {
  const { io } = context;
  const { platform, cwd } = io;
  const worlds = await AppWorlds.open({ ...started, platform, cwd, env: process.env, url, startMsMax });
  const onExit = () => killAll();
  process.once("exit", onExit);
  const stopListening = io.onInterrupt(() => {
    killAll();
    process.exit(130);
  });
  const close = async () => {
    await worlds.close();
    stopListening();
    process.off("exit", onExit);
  };
  try {
    return { ...(await open(worlds)), close };
  } catch (error) {
    await close();
    if (!(error instanceof AppNotReady)) throw error;
    for (const line of error.output) context.remark(`  | ${printable(line)}`);
    throw cannot(error.message);
  }
}

const notStarted =
  ({ href }: URL): PlayingThreads["ask"] =>
  async () => ({
    kind: "gone",
    why: `the app at ${href} was not started here, so nobody sees what it sends; give the command that starts it: --start "npm run dev"`,
  });

/** Throws for what is no address of this machine's. */
export function readAppUrl(text: string): URL {
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url?.protocol !== "http:")
    throw cannot(`-u is "${printable(text)}"; it is an address such as http://localhost:3000/api/inngest.`);
  if (!/^(localhost|127\.\d+\.\d+\.\d+|\[::1\])$/.test(url.hostname)) {
    throw cannot(`-u is "${printable(text)}"; an app is verified on this machine: http://localhost:3000/api/inngest.`);
  }
  return url;
}
