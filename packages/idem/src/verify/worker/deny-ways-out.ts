// Every other way out of the process, shut: what nobody watches is refused and named, never passed over. A watcher that covers one of these replaces it
// after this.
import child_process from "node:child_process";
import crypto from "node:crypto";
import dgram from "node:dgram";
import dns from "node:dns";
import { EventEmitter } from "node:events";
import http2 from "node:http2";
import Module, { createRequire, syncBuiltinESMExports } from "node:module";
import net from "node:net";
import os from "node:os";
import tls from "node:tls";
import { promisify } from "node:util";
import v8 from "node:v8";
import worker_threads from "node:worker_threads";
import type { Anything } from "./file-effects.ts";
import { answerNames } from "./model-names.ts";
import { modelServers } from "./model-servers.ts";
import type { Outside } from "./watcher.ts";

export class WayOutShut extends Error {
  readonly code = "EACCES";

  constructor(what: string) {
    super(`idem verify lets nothing out that it does not watch: ${what}`);
  }
}

type Args = readonly unknown[];

/** The target of `connect(options)`, `connect(port, host)` and `connect(path)`. */
function targetOf(args: Args): string {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  if (first instanceof URL || typeof first === "string") return String(first);
  if (typeof first === "object" && first !== null) {
    const { host, hostname, port, path } = first as Record<string, unknown>;
    return typeof path === "string" ? path : `${String(host ?? hostname ?? "localhost")}:${String(port ?? "?")}`;
  }
  return `${typeof second === "string" ? second : "localhost"}:${String(first)}`;
}

const wordOf = (args: Args): string => String(args[0]).slice(0, 80);

/** A function of a module's, and what is said of a call; null lets the call through. */
type WayOut = readonly [module: object | null, name: string, what: (args: Args) => string | null];

const socket = (args: Args) => `a socket to ${targetOf(args)} was opened that is not watched`;
const udp = () => "a UDP socket was opened that is not watched";
/** Its own sockets are nobody's to see; what asks a driver is. */
const prismaEngine =
  "Prisma's own engine was started, which is not watched; give PrismaClient a driver adapter (@prisma/adapter-pg, @prisma/adapter-better-sqlite3), whose driver is";
const isPrisma = (file: unknown): boolean => /query[-_]engine|schema-engine/.test(String(file));
const child = (args: Args) =>
  isPrisma(args[0]) ? prismaEngine : `a child process was started that is not watched: ${wordOf(args)}`;
const addon = (args: Args) =>
  isPrisma(args[1]) ? prismaEngine : `a native addon was loaded that is not watched: ${String(args[1]).slice(-80)}`;
const session = (args: Args) => `an HTTP/2 session to ${wordOf(args)} was opened that is not watched`;
const channel = (args: Args) => `a channel to other threads was opened that is not watched: ${wordOf(args)}`;
const native = (path: unknown) => `a native library was loaded that is not watched: ${String(path).slice(-80)}`;
const file = (what: string) => (args: Args) => `${what} was written, which is not watched: ${String(args[0] ?? "")}`;

const network: readonly WayOut[] = [
  [net.Socket.prototype, "connect", socket],
  [tls, "connect", (args) => `a TLS socket to ${targetOf(args)} was opened that is not watched`],
  [dgram, "createSocket", udp],
  [dgram, "Socket", udp],
  [http2, "connect", session],
  [globalThis, "WebSocket", (args) => `a WebSocket to ${wordOf(args)} was opened that is not watched`],
  [globalThis, "EventSource", (args) => `a stream of events from ${wordOf(args)} was opened that is not watched`],
];

// Questions for a host's address are answered (model-names.ts).
const isRecord = (name: string): boolean =>
  /^(resolve|reverse$|lookupService$)/.test(name) && !/^resolve[46]$/.test(name);
const names: readonly WayOut[] = [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype].flatMap(
  (module) =>
    ownNames(module)
      .filter(isRecord)
      .map(
        (name): WayOut => [
          module,
          name,
          (args) => `the name ${wordOf(args)} was looked up (${name}), which is not watched`,
        ],
      ),
);

/** With those it inherits from others than Object. */
function ownNames(of: object): string[] {
  const above = Object.getPrototypeOf(of) as object | null;
  const inherited = above === null || above === Object.prototype ? [] : ownNames(above);
  return [...new Set([...Object.getOwnPropertyNames(of), ...inherited])];
}

const children: readonly WayOut[] = [
  ...["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"].map(
    (name): WayOut => [child_process, name, child],
  ),
  // All of them, and `cluster`, end here.
  [
    child_process.ChildProcess.prototype,
    "spawn",
    ([options]) => child([(options as { file?: unknown } | null)?.file ?? "?"]),
  ],
];

const threads: readonly WayOut[] = [
  [worker_threads, "Worker", (args) => `a thread was started that is not watched: ${wordOf(args)}`],
  [Module, "register", (args) => `module hooks were registered, whose thread is not watched: ${wordOf(args)}`],
  [worker_threads, "BroadcastChannel", channel],
  [globalThis, "BroadcastChannel", channel],
  [worker_threads, "postMessageToThread", channel],
];

/** A module that some versions of Node lack, and that warns when it is loaded. */
function builtin(name: string): object | null {
  const { emitWarning } = process;
  process.emitWarning = () => {};
  try {
    return createRequire(import.meta.url)(name) as object;
  } catch {
    return null;
  } finally {
    process.emitWarning = emitWarning;
  }
}

// Ways past everything that could be replaced.
const bindings = new Set([
  "cares_wrap",
  "fs",
  "pipe_wrap",
  "process_wrap",
  "spawn_sync",
  "tcp_wrap",
  "tls_wrap",
  "udp_wrap",
]);

function machine(): readonly WayOut[] {
  const inspector = builtin("node:inspector") as { readonly Session?: { readonly prototype: object } } | null;
  const signal = (name: string) => (args: Args) =>
    // Signal 0 only asks whether the process is there.
    args[1] === 0 ? null : `a signal was sent to process ${wordOf(args)} (${name}), which is not watched`;
  return [
    [process, "dlopen", addon],
    [crypto, "setEngine", (args) => native(args[0])],
    [process, "kill", signal("kill")],
    [process, "_kill", signal("kill")],
    [process, "_debugProcess", signal("_debugProcess")],
    [os, "setPriority", (args) => `the priority of process ${wordOf(args)} was set, which is not watched`],
    [process, "exit", (args) => `exit(${args.map(String).join()}) was called, which ends the process itself`],
    [process, "reallyExit", () => "reallyExit was called, which ends the process itself"],
    [
      process,
      "binding",
      (args) =>
        bindings.has(String(args[0])) ? `process.binding("${wordOf(args)}") was asked for, which is not watched` : null,
    ],
    [v8, "writeHeapSnapshot", file("a heap snapshot")],
    [process.report ?? null, "writeReport", file("a report of the process")],
    [builtin("node:wasi"), "WASI", () => "a WASI program was started that is not watched"],
    [builtin("node:sqlite"), "DatabaseSync", (args) => `a database was opened that is not watched: ${wordOf(args)}`],
    [inspector, "open", () => "the inspector was opened, which is not watched"],
    [
      inspector?.Session?.prototype ?? null,
      "connectToMainThread",
      () => "the inspector was opened on the main thread, which is not watched",
    ],
  ];
}

export function denyWaysOut(outside: Outside): void {
  const shut = ([module, name, what]: WayOut): void => {
    const before = module === null ? undefined : (Reflect.get(module, name) as Anything | undefined);
    if (typeof before !== "function") return;
    const denied = function (this: unknown, ...args: unknown[]): unknown {
      const found = outside.isWatched() ? what(args) : null;
      if (found !== null) {
        outside.unproven(found);
        throw new WayOutShut(found);
      }
      if (new.target === undefined) return before.apply(this, args);
      return Reflect.construct(before, args, new.target === denied ? before : new.target);
    };
    Object.defineProperty(denied, "name", { value: name });
    Object.setPrototypeOf(denied, before);
    denied.prototype = before.prototype;
    // `promisify(execFile)` has a way of its own, past this one.
    const custom = Reflect.get(before, promisify.custom) as Anything | undefined;
    if (custom !== undefined) {
      const value = async (...args: unknown[]): Promise<unknown> =>
        outside.isWatched() && what(args) !== null ? denied(...args) : custom(...args);
      Object.defineProperty(denied, promisify.custom, { configurable: true, value });
    }
    Object.defineProperty(module!, name, { configurable: true, writable: true, value: denied });
  };
  for (const wayOut of [...network, ...names, ...children, ...threads, ...machine()]) shut(wayOut);
  answerNames(outside);
  modelServers(outside);
  answerUname(outside);
  hideThread();
  syncBuiltinESMExports();
}

/** SDKs tell it to their providers. Nothing is started for it. */
function answerUname(outside: Outside): void {
  const denied = child_process.exec;
  const named = (command: unknown, ...rest: unknown[]): unknown => {
    const done = rest.at(-1);
    if (!outside.isWatched() || command !== "uname -a" || typeof done !== "function") {
      return (denied as unknown as Anything)(command, ...rest);
    }
    process.nextTick(done as Anything, null, "Linux idem-verify", "");
    return new EventEmitter();
  };
  Object.defineProperty(named, promisify.custom, { value: Reflect.get(denied, promisify.custom) as unknown });
  Object.defineProperty(child_process, "exec", { configurable: true, writable: true, value: named });
}

/**
 * The user's code runs in a program's main thread, and so it is told: what else it asked of its parent would be heard by the command, and what it took from
 * there would be the command's. Storage in a file, which later versions of Node have, is written past all watchers: it is as absent as in those before.
 */
function hideThread(): void {
  Object.assign(worker_threads, { isMainThread: true, parentPort: null, workerData: null });
  for (const name of ["localStorage", "sessionStorage"]) {
    if (name in globalThis) Object.defineProperty(globalThis, name, { configurable: true, value: undefined });
  }
}
