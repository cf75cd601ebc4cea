// Every other way out of the process, shut: what nobody watches is refused and named, never passed over. A watcher that covers one of these replaces it
// after this.
import child_process from "node:child_process";
import dgram from "node:dgram";
import dns from "node:dns";
import { EventEmitter } from "node:events";
import http2 from "node:http2";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import tls from "node:tls";
import { promisify } from "node:util";
import worker_threads from "node:worker_threads";
import { answerNames } from "./model-names.ts";
import type { Outside } from "./watcher.ts";

export class DoorShut extends Error {
  readonly code = "EACCES";

  constructor(what: string) {
    super(`idem verify lets nothing out that it does not watch: ${what}`);
  }
}

type Anything = (...args: any[]) => any;

/** Where to, of `connect(options)`, `connect(port, host)` and `connect(path)`. */
function targetOf(args: readonly unknown[]): string {
  const [first, second] = Array.isArray(args[0]) ? args[0] : args;
  if (typeof first === "object" && first !== null) {
    const { host, hostname, port, path } = first as Record<string, unknown>;
    return typeof path === "string" ? path : `${String(host ?? hostname ?? "localhost")}:${String(port ?? "?")}`;
  }
  if (first instanceof URL || typeof first === "string") return String(first);
  return `${typeof second === "string" ? second : "localhost"}:${String(first)}`;
}

const wordOf = (args: readonly unknown[]): string => String(args[0]).slice(0, 80);

export function denyDoors(outside: Outside): void {
  const shut = (module: object, name: string, what: (args: readonly unknown[]) => string | null): void => {
    const before = Reflect.get(module, name) as Anything | undefined;
    if (typeof before !== "function") return;
    const denied = function (this: unknown, ...args: unknown[]): unknown {
      const found = outside.isWatched() ? what(args) : null;
      if (found === null) return new.target === undefined ? before.apply(this, args) : Reflect.construct(before, args);
      outside.unproven(found);
      throw new DoorShut(found);
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
    Object.defineProperty(module, name, { configurable: true, writable: true, value: denied });
  };
  const socket = (args: readonly unknown[]) => `a socket to ${targetOf(args)} was opened that is not watched`;
  shut(net.Socket.prototype, "connect", socket);
  shut(tls, "connect", (args) => `a TLS socket to ${targetOf(args)} was opened that is not watched`);
  shut(dgram, "createSocket", () => "a UDP socket was opened that is not watched");
  shut(http2, "connect", (args) => `an HTTP/2 session to ${wordOf(args)} was opened that is not watched`);
  const records = ["Any", "Caa", "Cname", "Mx", "Naptr", "Ns", "Ptr", "Soa", "Srv", "Txt"].map(
    (kind) => `resolve${kind}`,
  );
  for (const module of [dns, dns.promises, dns.Resolver.prototype, dns.promises.Resolver.prototype]) {
    for (const name of [...records, "resolve", "reverse", "lookupService"]) {
      shut(module, name, (args) => `the name ${wordOf(args)} was looked up (${name}), which is not watched`);
    }
  }
  answerNames(outside);
  // SDKs tell it to their providers. Nothing is started for it.
  const named = (command: unknown, ...rest: unknown[]): unknown => {
    const done = rest.at(-1);
    if (!outside.isWatched() || command !== "uname -a" || typeof done !== "function") {
      return (denied as unknown as Anything)(command, ...rest);
    }
    process.nextTick(done as Anything, null, "Linux idem-verify", "");
    return new EventEmitter();
  };
  for (const name of ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"]) {
    shut(child_process, name, (args) => `a child process was started that is not watched: ${wordOf(args)}`);
  }
  const denied = child_process.exec;
  Object.defineProperty(named, promisify.custom, { value: Reflect.get(denied, promisify.custom) as unknown });
  Object.defineProperty(child_process, "exec", { configurable: true, writable: true, value: named });
  shut(worker_threads, "Worker", (args) => `a thread was started that is not watched: ${wordOf(args)}`);
  if ("WebSocket" in globalThis) {
    shut(globalThis, "WebSocket", (args) => `a WebSocket to ${wordOf(args)} was opened that is not watched`);
  }
  shut(process, "dlopen", (args) => `a native addon was loaded that is not watched: ${String(args[1]).slice(-80)}`);
  syncBuiltinESMExports();
}
