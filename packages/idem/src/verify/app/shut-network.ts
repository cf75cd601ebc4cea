// Unwatched things that an app's process opens outside of any call: a socket that is opened when the module is loaded, a native addon, a thread. Functions
// served from the same process are UNPROVEN by it. Beyond this machine nothing is reached at all.
import net from "node:net";
import { tmpdir } from "node:os";
import { resolve } from "node:path";
import worker_threads from "node:worker_threads";

type Told = (what: string) => void;

/** Libraries that build the code, and hold nothing that anybody counts. */
const builders =
  /[\\/](@next[\\/]swc|@swc[\\/]|@esbuild[\\/]|esbuild|lightningcss|@tailwindcss[\\/]|@rollup[\\/]|rollup|rolldown|@rolldown[\\/]|@oxc-|@rspack[\\/]|@parcel[\\/]|fsevents|bufferutil|utf-8-validate|@mongodb-js[\\/]zstd)/;
/** Loggers write from a thread of their own. */
const loggers = /thread-stream|pino/;

/** `isElsewhere`: somebody else looks at it, or nobody needs to. */
export function shutNetwork(tell: Told, isElsewhere: () => boolean): void {
  const connect = net.Socket.prototype.connect as (this: net.Socket, ...args: unknown[]) => net.Socket;
  net.Socket.prototype.connect = function (this: net.Socket, ...args: unknown[]) {
    if (isElsewhere()) return connect.apply(this, args);
    const { name, isNear, isTool } = targetOf(args);
    if (isTool) return connect.apply(this, args);
    tell(`a socket to ${name} was opened when the app started, which is not watched`);
    if (isNear) return connect.apply(this, args);
    const refused = Object.assign(new Error(`connect ECONNREFUSED ${name}`), { code: "ECONNREFUSED" });
    process.nextTick(() => this.destroy(refused));
    return this;
  } as typeof net.Socket.prototype.connect;
  const { dlopen } = process;
  process.dlopen = (...args) => {
    const file = String(args[1]);
    if (!isElsewhere() && !builders.test(file))
      tell(`a native addon was loaded that is not watched: ${file.slice(-80)}`);
    dlopen.apply(process, args);
  };
  const { Worker } = worker_threads;
  const watched: typeof Worker = new Proxy(Worker, {
    construct: (target, args, as): object => {
      const name = String(args[0]);
      if (!isElsewhere() && !loggers.test(name)) tell(`a thread was started that is not watched: ${name.slice(0, 80)}`);
      return Reflect.construct(target, args, as === watched ? target : as) as object;
    },
  });
  Object.defineProperty(worker_threads, "Worker", { configurable: true, writable: true, value: watched });
}

interface Target {
  readonly name: string;
  /** On this machine. */
  readonly isNear: boolean;
  /** Processes of one tool speak to each other by files of their own (tsx). */
  readonly isTool: boolean;
}

function targetOf(args: readonly unknown[]): Target {
  const [first, second] = (Array.isArray(args[0]) ? args[0] : args) as readonly unknown[];
  const given = (typeof first === "object" && first !== null ? first : {}) as Record<string, unknown>;
  const path =
    typeof given.path === "string" ? given.path : typeof first === "string" && !/^\d+$/.test(first) ? first : null;
  if (path !== null) return { name: path, isNear: true, isTool: resolve(path).startsWith(tmpdir()) };
  const host = String(given.host ?? (typeof second === "string" ? second : "localhost"));
  const port = String(given.port ?? first);
  const isNear = /^(localhost|127\.|::1$|\[::1\]$|0\.0\.0\.0$)/.test(host);
  return { name: `${host}:${port}`, isNear, isTool: false };
}
