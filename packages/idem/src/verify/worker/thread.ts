// The thread in which the user's modules are loaded and worlds are played, one at a time. Everything that leads outside is replaced before the first of
// them is loaded.
import "./real.ts";
import { getHeapStatistics } from "node:v8";
import { fingerprintOf } from "../../execute/code-of-run.ts";
import { prepareExpressions } from "../../model/expression.ts";
import { nodeThread } from "../../platform/node-thread.ts";
import type { HttpRequest, HttpResponse } from "../../platform/platform.ts";
import { loadEngine } from "../../sdk/embedded.ts";
import type { CallRecord } from "../calls/call-script.ts";
import { cleanSchedule, readSchedule } from "../schedules.ts";
import type { Json, WorldRecord } from "../thing.ts";
import { CallWorld } from "./call-world.ts";
import { asCaller, currentCaller, isUnwatched } from "./caller.ts";
import { denyWaysOut } from "./deny-ways-out.ts";
import { noteGlobals } from "./forget-globals.ts";
import type { Life } from "./life.ts";
import { openLoader, withModules } from "./load-modules.ts";
import { Makers } from "./makers.ts";
import type { FromThread, Loaded, Opened, ThreadInput, ToThread } from "./messages.ts";
import { replaceGlobals } from "./replace-globals.ts";
import { Replaying } from "./replaying.ts";
import { watchPostgres } from "./sql/watch-postgres.ts";
import { watchSqlite } from "./sql/watch-sqlite.ts";
import { watchFiles } from "./watch-files.ts";
import { askOutside, watchHttp } from "./watch-http.ts";
import { watchMail } from "./watch-mail.ts";
import type { Outside, Watcher } from "./watcher.ts";
import { World, type WorldOptions } from "./world.ts";

// In the order they are opened: after all ways out are shut, so that each may open its own.
const watchers: readonly Watcher[] = [watchHttp, watchMail, watchFiles, watchSqlite, watchPostgres];

const thread = nodeThread<ThreadInput, ToThread, FromThread | Loaded | Opened>();
const { loader } = thread.input;

let playing: World | null = null;
/** From here on everything that is not let out on purpose is the user's, also between two worlds: what a dead process left behind. */
let isOpen = false;
let isShown = false;
/** While runs are replayed nothing outside answers. */
let replaying: Replaying | null = null;

const outside: Outside = {
  async effect(about, apply) {
    const caller = currentCaller();
    if (replaying !== null) return replaying.refuse(caller, about.title);
    if (caller !== null) return caller.life.options.home.effect(caller, about, apply);
    playing?.unproven(`${about.title} came from code whose world cannot be told (its async context was lost)`);
    return { kind: "lost" };
  },
  async effectLater(about, apply) {
    const caller = currentCaller();
    if (replaying !== null) return replaying.refuse(caller, about.title);
    if (caller !== null) return caller.life.options.home.effectLater(caller, about, apply);
    playing?.unproven(`${about.title} came from code whose world cannot be told (its async context was lost)`);
    return { kind: "lost" };
  },
  effectNow(about, apply) {
    const caller = currentCaller();
    if (replaying !== null) return replaying.refuse(caller, about.title);
    if (caller !== null) return caller.life.options.home.effectNow(caller, about, apply);
    playing?.unproven(`${about.title} came from code whose world cannot be told (its async context was lost)`);
    return { kind: "lost" };
  },
  async read(body, title) {
    const caller = currentCaller();
    if (replaying !== null && title !== undefined) replaying.refuseToRead(caller, title);
    await caller?.life.pass();
    return body();
  },
  readNow(body, title) {
    if (replaying !== null) replaying.refuseToRead(currentCaller(), title);
    return body();
  },
  unproven: (what) => {
    const caller = currentCaller();
    if (replaying !== null) replaying.refuse(caller, what);
    else (caller?.life.options.home ?? playing)?.unproven(what);
  },
  isWatched: () => isOpen && !isUnwatched(),
  begin: () => {
    const life = currentCaller()?.life;
    return life === undefined ? () => {} : life.options.home.begin(life);
  },
};

async function askHttp(life: Life, request: HttpRequest): Promise<HttpResponse> {
  const { method, url, headers, body } = request;
  const lower = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toLowerCase(), value]));
  const asked = { method: method.toUpperCase(), url: new URL(url), headers: lower, body: body ?? "" };
  const caller = currentCaller() ?? { life, run: null };
  const answer = await asCaller(caller, () => askOutside(outside, asked));
  return { status: answer.status, headers: { ...answer.headers }, body: answer.body };
}

async function open(): Promise<void> {
  prepareExpressions();
  denyWaysOut(outside);
  for (const watcher of watchers) await watcher.open(outside);
  replaceGlobals(() => playing?.living ?? null);
  // The output of the user's code is no part of the answer, and two hundred worlds print it two hundred times.
  const { stderr } = process;
  process.stdout.write = ((text: string | Uint8Array) => (isShown ? stderr.write(text) : true)) as typeof stderr.write;
  const shown = stderr.write.bind(stderr) as (text: string | Uint8Array) => boolean;
  process.stderr.write = ((text: string | Uint8Array) => (isShown ? shown(text) : true)) as typeof stderr.write;
  const tell = (error: unknown) =>
    playing?.say(`nobody caught ${error instanceof Error ? error.message : String(error)}`);
  process.on("unhandledRejection", tell);
  process.on("uncaughtException", tell);
  await loadEngine();
  await openLoader(loader);
  noteGlobals();
  isOpen = true;
  thread.post({ kind: "opened" });
}

const emptyScript = {
  env: "default",
  fn: "",
  names: [],
  tickName: "",
  event: { name: "", id: "", data: null },
  twin: null,
  changed: {},
  windowMs: 0,
  outageMs: 0,
  startMs: Date.UTC(2026, 0, 1),
  fixtures: [],
} as const;

async function describe({ modules, databases }: Extract<ToThread, { kind: "describe" }>): Promise<FromThread> {
  const makers = new Makers();
  const onTaken: WorldOptions["onTaken"] = (taken) => makers.follow(taken);
  const setUp = databases === undefined ? {} : { databases: { databases, isSetUp: true } };
  const script = { ...emptyScript, ...setUp, modules };
  const world = new World({ ...script, schedule: cleanSchedule, seed: 1, watchers, askHttp, onTaken });
  playing = world;
  isShown = true;
  try {
    const { clients } = await withModules(modules, false, () => world.load());
    const functions = clients.flatMap(({ client, app, codes }) =>
      codes.map((code) => {
        const { fn, config, handlesEnd } = code;
        const { place, by } = makers.of(code);
        const fingerprint = fingerprintOf(code);
        return { app, env: client.env, fn, config, code: fingerprint, handlesEnd, place, madeBy: by };
      }),
    );
    const configuration = JSON.parse(JSON.stringify(world.processes.configuration ?? null)) as Json;
    const named = clients.map(({ client, app, codes }) => ({ app, env: client.env, functions: codes.length }));
    return { kind: "described", functions, clients: named, configuration };
  } finally {
    await world.close();
    playing = null;
    isShown = false;
  }
}

/** Loaded for replays: the same modules for all of them, as a process has them. */
let loaded: { readonly name: string; readonly world: World; readonly replays: Replaying } | null = null;

async function loadReplays(modules: readonly string[], startMs: number): Promise<NonNullable<typeof loaded>> {
  const name = JSON.stringify(modules);
  if (loaded?.name === name) return loaded;
  const world = new World({ ...emptyScript, startMs, modules, schedule: cleanSchedule, seed: 1, watchers, askHttp });
  playing = world;
  const life = await withModules(modules, false, () => world.load());
  loaded = { name, world, replays: new Replaying(world, life) };
  return loaded;
}

async function replay({ modules, now, runs }: Extract<ToThread, { kind: "replay" }>): Promise<FromThread> {
  try {
    const { world, replays } = await loadReplays(modules, now);
    [playing, replaying] = [world, replays];
    const told = await replays.replay(runs, now, () => thread.post({ kind: "loaded" }));
    return { kind: "replayed", replays: told, heapBytes: getHeapStatistics().used_heap_size };
  } finally {
    [playing, replaying] = [null, null];
  }
}

async function call({ script, plan, seed }: Extract<ToThread, { kind: "call" }>): Promise<FromThread> {
  const play = (): Promise<CallRecord> => {
    const world = new CallWorld({ script, plan, seed, watchers, askHttp });
    playing = world;
    return world.playCalls(() => thread.post({ kind: "loaded" }));
  };
  try {
    const record = await withModules(script.modules, true, play);
    return { kind: "called", record, heapBytes: getHeapStatistics().used_heap_size };
  } finally {
    playing = null;
  }
}

async function answer(message: ToThread): Promise<FromThread> {
  if (message.kind === "describe") return describe(message);
  if (message.kind === "replay") return replay(message);
  if (message.kind === "call") return call(message);
  const schedule = readSchedule(message.schedule) ?? cleanSchedule;
  const { script, seed } = message;
  isShown = message.isShown;
  const play = (): Promise<WorldRecord> => {
    const world = new World({ ...script, schedule, seed, watchers, askHttp });
    playing = world;
    return world.run(() => thread.post({ kind: "loaded" }));
  };
  // Output and real requests happen once.
  const mayRepeat = !isShown && (script.recordFrom ?? []).length === 0;
  try {
    const record = await withModules(script.modules, mayRepeat, play);
    return { kind: "played", record, heapBytes: getHeapStatistics().used_heap_size };
  } finally {
    playing = null;
    isShown = false;
  }
}

const opening = open();
thread.onMessage((message) => {
  void opening
    .then(() => answer(message))
    .catch((error: unknown): FromThread => {
      const { message: why, stack = "" } = error instanceof Error ? error : new Error(String(error));
      return { kind: "failed", why, stack };
    })
    .then((said) => thread.post(said))
    // An answer that is no plain data would be waited for for ever.
    .catch((error: unknown) => thread.post({ kind: "failed", why: String(error), stack: "" }));
});
