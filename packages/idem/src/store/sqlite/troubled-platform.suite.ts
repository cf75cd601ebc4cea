// The real machine, whose store threads run over a disk that can be told to be full or to fail. The fault is SQLite's own where it can be
// (a file that may not grow), and an error in its place where it cannot (a sync that fails).
import { Worker } from "node:worker_threads";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform, Thread } from "../../platform/platform.ts";

const faults = { none: 0, full: 1, sync: 2, write: 3 } as const;

// Runs before the store's thread, in it: SQLite's statements pass through here.
const wrapper = (thread: string): string => `
  const { workerData } = require("node:worker_threads");
  const Database = require("better-sqlite3");
  const fault = new Int32Array(workerData.fault);
  const prepare = Database.prototype.prepare;
  const refuse = (code, text) => { throw new Database.SqliteError(text, code); };
  Database.prototype.prepare = function (sql) {
    const statement = prepare.call(this, sql);
    if (sql !== "commit" && sql !== "begin immediate") return statement;
    const run = statement.run.bind(statement);
    statement.run = (...params) => {
      if (sql === "begin immediate") {
        // A database that may have no more pages than it has is full for whoever needs another one.
        const pages = this.pragma("page_count", { simple: true });
        this.pragma("max_page_count = " + (Atomics.load(fault, 0) === 1 ? pages : 1073741823));
      } else if (Atomics.load(fault, 0) === 2) refuse("SQLITE_IOERR_FSYNC", "disk I/O error");
      else if (Atomics.load(fault, 0) === 3) refuse("SQLITE_IOERR_WRITE", "disk I/O error");
      return run(...params);
    };
    return statement;
  };
  import(${JSON.stringify(thread)});
`;

export function troubledPlatform(): { readonly platform: Platform; setFault(name: keyof typeof faults): void } {
  const shared = new SharedArrayBuffer(4);
  const startThread = (file: string, input: unknown): Thread => {
    const code = wrapper(new URL(`../../../dist/${file}.js`, import.meta.url).href);
    const worker = new Worker(code, { eval: true, workerData: { ...(input as object), fault: shared } });
    let failure: Error | null = null;
    worker.on("error", (error) => {
      failure = error as Error;
    });
    return {
      post: (message) => worker.postMessage(message),
      onMessage: (take) => void worker.on("message", take),
      onEnd: (take) => void worker.on("exit", () => take(failure)),
      terminate: async () => void (await worker.terminate()),
      ref: (keepAlive) => (keepAlive ? worker.ref() : worker.unref()),
    };
  };
  return {
    platform: { ...nodePlatform, startThread },
    setFault: (name) => void Atomics.store(new Int32Array(shared), 0, faults[name]),
  };
}
