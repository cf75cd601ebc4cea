// The server of an app's world: the product's own, over the world's store and clock; it knows the app by its own description. And what it finds in that store.
import { silentLogger } from "../../execute/log-style.ts";
import type { FunctionConfig } from "../../model/function-config.ts";
import { tickEventName } from "../../model/tick.ts";
import type { Platform } from "../../platform/platform.ts";
import { defaultEnv } from "../../server/admit-caller.ts";
import type { AppRegistration } from "../../server/apps.ts";
import { type RunningServer, startServer } from "../../server/start-server.ts";
import type { MemoryStore } from "../../store/memory/store.ts";
import type { Json } from "../thing.ts";
import { Chance } from "../worker/chance.ts";
import { type Wait, waitOf } from "../worker/watched-functions.ts";
import type { WorldClock } from "../worker/world-clock.ts";
import type { WorldScript } from "../worker/world-script.ts";
import type { Passing } from "./app-gateway.ts";

/** Real time. */
const closeMsMax = 30_000;
const rowsMax = 1_000;

/** For alarms that nobody's death stops. */
export const awake = { isDead: false, isFrozen: false } as const;

export interface AppServerOptions extends Pick<WorldScript, "fn" | "names" | "tickName"> {
  readonly seed: number;
  readonly platform: Platform;
  /** The app's own description of itself. */
  readonly registration: AppRegistration;
  /** The address at which the world's server calls it. */
  readonly appUrl: string;
}

export async function openAppServer(
  options: AppServerOptions,
  world: {
    readonly clock: WorldClock;
    readonly store: MemoryStore;
    readonly fetch: Platform["fetch"];
    readonly stir: () => void;
  },
): Promise<RunningServer> {
  const { clock, store, fetch, stir } = world;
  const ids = new Chance(options.seed * 104_729);
  const platform: Platform = {
    wallMs: () => clock.wallMs(),
    monoMs: () => clock.monoMs(),
    randomBytes: (count) => {
      const bytes = new Uint8Array(count);
      ids.fill(bytes);
      return bytes;
    },
    timer: (ms, run, how) => clock.set(ms, run, awake, how?.background ?? false),
    soon: (run) => options.platform.soon(run),
    fetch,
    startThread: (file) => {
      throw new Error(`a world has no threads (${file})`);
    },
    point: () => stir(),
  };
  const settings = { mode: "dev", host: "127.0.0.1", port: 0, discovery: false, poll: false, radar: false } as const;
  const server = await startServer(settings, { platform, store, logger: silentLogger });
  await server.world.apps.register(defaultEnv, fitted(options));
  return server;
}

/** Only the function that is looked at receives what is delivered, and no clock starts any. */
function fitted({ registration, appUrl, fn, names, tickName }: AppServerOptions): AppRegistration {
  const functions = registration.functions.map(({ fn: each, config }) => {
    const events = config.triggers.flatMap((trigger) => ("event" in trigger ? [trigger] : []));
    const ticks = events.length < config.triggers.length || events.length === 0 ? [{ event: tickName }] : [];
    const triggers: FunctionConfig["triggers"] =
      each === fn ? [...events, ...ticks] : events.filter(({ event }) => !names.includes(event));
    return { fn: each, config: { ...config, triggers, runtime: { kind: "http", url: appUrl } as const } };
  });
  return { ...registration, url: appUrl, functions };
}

/** The event that stands for a tick or an invocation gets the name the SDK knows it by: the SDK refuses all others. */
export function knownToSdk({ tickName, registration, fn }: AppServerOptions, request: Passing): Passing {
  const target = registration.functions.find((each) => each.fn === fn);
  const isTimed = target?.config.triggers.some((each) => "cron" in each) === true;
  const name = (of: string): string => `"name":${JSON.stringify(of)}`;
  const text = request.body.toString("utf8");
  if (!text.includes(name(tickName))) return request;
  const known = text.replaceAll(name(tickName), name(isTimed ? tickEventName : "inngest/function.invoked"));
  return { ...request, body: Buffer.from(known) };
}

/** Adds to `known` what runs wait for, by run and step. It stands in the store: the app asked the server for it. */
export async function findWaits(
  { reads }: MemoryStore,
  known: Map<string, Wait>,
  given: NonNullable<WorldScript["waits"]>,
): Promise<void> {
  const { waiting } = await reads.counts(defaultEnv);
  if (waiting === 0) return;
  const runs = await reads.runs(defaultEnv, { limit: rowsMax });
  for (const { id: runId, state, eventId } of runs) {
    if (state !== "waiting") continue;
    const memo = await reads.runMemo(defaultEnv, runId);
    for (const { stepId, name, kind } of memo?.waits ?? []) {
      if ((kind !== "event" && kind !== "signal") || known.has(`${runId} ${name}`)) continue;
      const asked = JSON.parse((await reads.stepInput(defaultEnv, runId, stepId)) ?? "{}") as unknown;
      const events = await reads.events(defaultEnv, { limit: rowsMax });
      const own = events.find(({ id }) => id === eventId);
      const event = own === undefined ? {} : { data: JSON.parse(own.data) as Json };
      known.set(`${runId} ${name}`, waitOf(given, { step: name, runId, event, asked }));
    }
  }
}

export async function closeAppServer(server: RunningServer, clock: WorldClock, platform: Platform): Promise<void> {
  let isClosed = false;
  const closing = server.close({ graceMs: 0 }).finally(() => {
    isClosed = true;
  });
  // Its graces are of the world's time.
  const turn = () => new Promise<void>((resolve) => platform.soon(resolve));
  const until = platform.monoMs() + closeMsMax;
  while (!isClosed) {
    if (platform.monoMs() > until) throw new Error("a world's server does not close");
    await clock.moveTo(clock.monoMs() + 1_000, turn);
  }
  await closing;
}
