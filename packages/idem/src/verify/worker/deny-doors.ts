// Every other way out of the process, shut: what nobody watches is refused and named, never passed over. A watcher that covers one of these replaces it
// after this.
import child_process from "node:child_process";
import dgram from "node:dgram";
import dns from "node:dns";
import fs from "node:fs";
import http2 from "node:http2";
import { syncBuiltinESMExports } from "node:module";
import net from "node:net";
import tls from "node:tls";
import worker_threads from "node:worker_threads";
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

const writes = [
  ...["writeFile", "appendFile", "mkdir", "mkdtemp", "rm", "rmdir", "unlink", "rename", "copyFile", "cp", "truncate"],
  ...["symlink", "link", "chmod", "chown", "utimes"],
];

const opensForWriting = (flags: unknown): boolean =>
  typeof flags === "number"
    ? (flags & (fs.constants.O_WRONLY | fs.constants.O_RDWR | fs.constants.O_CREAT | fs.constants.O_APPEND)) !== 0
    : typeof flags === "string" && /[wa+]/.test(flags);

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
    Object.defineProperty(module, name, { configurable: true, writable: true, value: denied });
  };
  const socket = (args: readonly unknown[]) => `a socket to ${targetOf(args)} was opened that is not watched`;
  shut(net.Socket.prototype, "connect", socket);
  shut(tls, "connect", (args) => `a TLS socket to ${targetOf(args)} was opened that is not watched`);
  shut(dgram, "createSocket", () => "a UDP socket was opened that is not watched");
  shut(http2, "connect", (args) => `an HTTP/2 session to ${wordOf(args)} was opened that is not watched`);
  for (const name of ["lookup", "resolve", "resolve4", "resolve6", "resolveTxt", "resolveMx"]) {
    shut(dns, name, (args) => `the name ${wordOf(args)} was looked up, which is not watched`);
    shut(dns.promises, name, (args) => `the name ${wordOf(args)} was looked up, which is not watched`);
  }
  for (const name of ["spawn", "spawnSync", "exec", "execSync", "execFile", "execFileSync", "fork"]) {
    shut(child_process, name, (args) => `a child process was started that is not watched: ${wordOf(args)}`);
  }
  shut(worker_threads, "Worker", (args) => `a thread was started that is not watched: ${wordOf(args)}`);
  if ("WebSocket" in globalThis) {
    shut(globalThis, "WebSocket", (args) => `a WebSocket to ${wordOf(args)} was opened that is not watched`);
  }
  shut(process, "dlopen", (args) => `a native addon was loaded that is not watched: ${String(args[1]).slice(-80)}`);
  shutFiles(shut);
  syncBuiltinESMExports();
}

function shutFiles(
  shut: (module: object, name: string, what: (args: readonly unknown[]) => string | null) => void,
): void {
  const file = (args: readonly unknown[]) => `a file was written that is not watched: ${wordOf(args)}`;
  for (const name of writes) {
    shut(fs, name, file);
    shut(fs, `${name}Sync`, file);
    shut(fs.promises, name, file);
  }
  shut(fs, "createWriteStream", file);
  const opened = (args: readonly unknown[]) => (opensForWriting(args[1]) ? file(args) : null);
  shut(fs, "open", opened);
  shut(fs, "openSync", opened);
  shut(fs.promises, "open", opened);
}
