// A server in the foreground: a screen that says how to use it, then a line for what happens, until it is stopped.
import { relative as relativePath, resolve } from "node:path";
import { readRetention } from "../engine/retention.ts";
import { lengthText } from "../model/length-text.ts";
import { readStoreTimeout } from "../model/store-timeout.ts";
import { readPackageText } from "../platform/package-files.ts";
import type { RunningServer } from "../server/start-server.ts";
import type { ServerSettings } from "../server/world.ts";
import { withoutPassword } from "../store/postgres/address.ts";
import type { Context, Option } from "./command.ts";
import { exitCodes, usage } from "./exit.ts";
import { printable } from "./printable.ts";
import { serverLog } from "./server-log.ts";

/** Options of both ways to run a server. */
export const serverOptions: Readonly<Record<string, Option>> = {
  port: { value: "8288", short: "p", help: "the port to listen on; 0 for any free one" },
  host: { value: "127.0.0.1", help: "the address to listen on" },
  "sdk-url": {
    value: "url",
    short: "u",
    isMany: true,
    help: "the serve URL of an app, registered once it answers; may be repeated",
  },
  "retry-interval": { value: "seconds", help: "between attempts, instead of the usual growing pauses" },
  "trace-url": {
    value: "url",
    help: "where a run's trace is read, with {traceId} in it; IDEM_TRACE_URL unless given",
  },
  "store-timeout": {
    value: "30s",
    help: "how long a call retries while the store does not answer, 1s to 10m; IDEM_STORE_TIMEOUT unless given",
  },
  retention: {
    value: "90d",
    help: "delete history older than this, in the background; IDEM_RETENTION unless given; by default everything is kept",
  },
  "no-radar": { help: "do not look for what ran twice" },
  "runs-in-flight": { value: "100", help: "how many runs are executed at once, per environment" },
};

export function givenSettings(context: Context, storePath: string): Partial<ServerSettings> {
  const { options, lists, io } = context;
  const isInMemory = context.flags.has("in-memory");
  if (isInMemory && options.store !== undefined) throw usage("Give --in-memory or --store, not both.");
  if (isInMemory && context.flags.has("persist")) throw usage("Give --in-memory or --persist, not both.");
  const store = (isInMemory ? "memory:" : options.store) ?? io.env("IDEM_STORE") ?? `sqlite:${storePath}`;
  return {
    store: absoluteStore(store, io.cwd),
    sdkUrls: lists["sdk-url"] ?? [],
    ...retentionOf(context),
    ...storeTimeoutOf(context),
    ...traceUrlOf(context),
    ...(context.flags.has("no-radar") ? { radar: false } : {}),
    ...(options.host === undefined ? {} : { host: options.host }),
    ...numberOf(context, "port", "port", { min: 0, max: 65_535, isWhole: true, scale: 1 }),
    ...numberOf(context, "retry-interval", "retryIntervalMs", { min: 0, max: 86_400, isWhole: false, scale: 1_000 }),
    ...numberOf(context, "queue-workers", "runsInFlight", { min: 1, max: 10_000, isWhole: true, scale: 1 }),
    ...numberOf(context, "runs-in-flight", "runsInFlight", { min: 1, max: 10_000, isWhole: true, scale: 1 }),
  };
}

function traceUrlOf({ options, io }: Context): Partial<ServerSettings> {
  const traceUrl = options["trace-url"] ?? io.env("IDEM_TRACE_URL") ?? "";
  return traceUrl === "" ? {} : { traceUrl };
}

function retentionOf({ options, io }: Context): Partial<ServerSettings> {
  const given = options.retention ?? io.env("IDEM_RETENTION") ?? "";
  if (given === "" && options.retention === undefined) return {};
  return { retentionMs: readRetention(given, options.retention === undefined ? "IDEM_RETENTION" : "--retention") };
}

function storeTimeoutOf({ options, io }: Context): Partial<ServerSettings> {
  const given = options["store-timeout"] ?? (io.env("IDEM_STORE_TIMEOUT") || undefined);
  if (given === undefined) return {};
  const name = options["store-timeout"] === undefined ? "IDEM_STORE_TIMEOUT" : "--store-timeout";
  return { storeTimeoutMs: readStoreTimeout(given, name) };
}

function numberOf(
  { options }: Context,
  name: string,
  setting: "port" | "retryIntervalMs" | "runsInFlight",
  { min, max, isWhole, scale }: { min: number; max: number; isWhole: boolean; scale: number },
): Partial<ServerSettings> {
  const text = options[name];
  if (text === undefined) return {};
  const value = Number(text);
  const isNumber = (isWhole ? /^\d+$/ : /^\d+(\.\d+)?$/).test(text);
  if (!isNumber || value < min || value > max) {
    throw usage(
      `--${name} is "${printable(text)}"; it must be a ${isWhole ? "whole " : ""}number from ${min} to ${max}.`,
    );
  }
  return { [setting]: value * scale };
}

/** A file is where the command was given, wherever the process is later. */
function absoluteStore(address: string, cwd: string): string {
  const path = address.startsWith("sqlite:") ? address.slice("sqlite:".length) : address;
  if (path === "" || path === ":memory:" || /^[a-z][a-z0-9+.-]+:/i.test(path)) return address;
  return `sqlite:${resolve(cwd, path)}`;
}

export async function runServer(
  context: Context,
  settings: Partial<ServerSettings>,
  connect: (server: RunningServer) => readonly string[],
): Promise<number> {
  const { io } = context;
  // Interrupted while it opens, it stops as soon as it can, and does not wait for a store that is not ready.
  const stopping = new AbortController();
  const { signal } = stopping;
  const stopped = new Promise<void>((resolveStop) => {
    signal.addEventListener("abort", () => resolveStop());
  });
  const ignore = io.onInterrupt(() => stopping.abort());
  try {
    // Only these two commands need it, and loading it takes longer than the others take altogether.
    const { startServer } = await import("../server/start-server.ts");
    const server = await startServer(settings, {
      platform: io.platform,
      logger: serverLog(context),
      logStyle: "lines",
      signal,
    }).catch((error: unknown) => {
      if (!signal.aborted) throw error;
      return null;
    });
    if (server === null) {
      context.say("Stopped before the store was ready.");
      return exitCodes.ok;
    }
    await showScreen(context, server, connect(server));
    await stopped;
    context.say("Stopping: what runs is finished. Ctrl-C again ends at once.");
    await server.close();
    return exitCodes.ok;
  } finally {
    ignore();
  }
}

async function showScreen(context: Context, server: RunningServer, connect: readonly string[]): Promise<void> {
  const { paint } = context;
  const { settings, apps } = server.world;
  const { version } = JSON.parse(readPackageText("../package.json")) as { version: string };
  const known = (await Promise.all([...server.world.engines.keys()].map((env) => apps.list(env)))).flat();
  const count = known.reduce((sum, { functionCount }) => sum + functionCount, 0);
  const appNames = known.map(({ app }) => printable(app)).join(", ");
  const rows: readonly (readonly [string, string])[] = [
    ["listens", server.origin],
    ["store", shownStore(settings.store, context.io.cwd)],
    ...(settings.role === "all" ? [] : [["role", roleText[settings.role]] as const]),
    ...(settings.retentionMs === null
      ? []
      : [["keeps", `history of ${lengthText(settings.retentionMs)}; what is older is deleted`] as const]),
    ["apps", known.length === 0 ? appsAhead(settings) : `${appNames} (${count} functions known from before)`],
  ];
  context.say(`${paint.bold(`idem ${settings.mode}`)} ${version}`);
  context.say("");
  for (const [name, text] of rows) context.say(`  ${name.padEnd(9)}${text}`);
  if (server.newSecret !== null) {
    context.say("");
    context.say(`  People sign in with ${paint.bold(server.newSecret)}`);
    context.say("  It is shown this once. Set IDEM_PASSWORD to choose one; --new-secret makes another.");
  }
  context.say("");
  for (const line of connect) context.say(`  ${line}`);
  context.say("");
  context.say(paint.dim("  Ctrl-C stops."));
}

const roleText = {
  api: "api: requests are answered here, runs are executed by other nodes",
  worker: "worker: runs are executed here, requests are answered by other nodes",
} as const;

function appsAhead({ sdkUrls, discovery, role }: ServerSettings): string {
  if (role === "worker") return "none yet; they register with other nodes";
  if (sdkUrls.length > 0) return `waiting for ${sdkUrls.map(printable).join(", ")}`;
  return discovery
    ? "looking for them on this machine"
    : "none yet; an app registers itself, or is given with -u <url>";
}

function shownStore(address: string, cwd: string): string {
  if (!address.startsWith("sqlite:/")) return printable(withoutPassword(address));
  const path = relativePath(cwd, address.slice("sqlite:".length));
  return path.startsWith("..") ? address.slice("sqlite:".length) : path;
}
