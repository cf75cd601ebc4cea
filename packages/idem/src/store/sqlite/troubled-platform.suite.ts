// The real machine, whose store threads run over a disk that can be told to be full or to fail. The fault is SQLite's own where it can be
// (a file that may not grow), and an error in its place where it cannot (a sync that fails).
import { Worker } from "node:worker_threads";
import { nodePlatform } from "../../platform/node-platform.ts";
import type { Platform, Thread } from "../../platform/platform.ts";
import type { ThreadInput } from "./thread-messages.ts";

const faults = { none: 0, full: 1, sync: 2, write: 3 } as const;

// Runs before the store's thread, in it: SQLite's statements pass through here.
const wrapper = (driver: string, thread: string): string => `
  const { workerData } = require("node:worker_threads");
  const fault = new Int32Array(workerData.fault);
  const refuse = (code) => { throw Object.assign(new Error("disk I/O error"), { code }); };
  const trouble = (driver) => {
    const { open } = driver;
    driver.open = (path, options) => {
      const handle = open(path, options);
      const { prepare } = handle;
      handle.prepare = (sql) => {
        const statement = prepare(sql);
        if (sql !== "commit" && sql !== "begin immediate") return statement;
        const run = statement.run.bind(statement);
        statement.run = (...params) => {
          if (sql === "begin immediate") {
            // A database that may have no more pages than it has is full for whoever needs another one.
            const { page_count: pages } = prepare("pragma page_count").get();
            handle.exec("pragma max_page_count = " + (Atomics.load(fault, 0) === 1 ? pages : 1073741823));
          } else if (Atomics.load(fault, 0) === 2) refuse("SQLITE_IOERR_FSYNC");
          else if (Atomics.load(fault, 0) === 3) refuse("SQLITE_IOERR_WRITE");
          return run(...params);
        };
        return statement;
      };
      return handle;
    };
  };
  import(${JSON.stringify(driver)}).then(({ sqliteDriver }) => {
    trouble(sqliteDriver());
    return import(${JSON.stringify(thread)});
  });
`;

/** `patience` replaces the one of the store. */
export function troubledPlatform(patience: ThreadInput["patience"] = null): {
  readonly platform: Platform;
  setFault(name: keyof typeof faults): void;
} {
  const shared = new SharedArrayBuffer(4);
  const startThread = (file: string, input: unknown): Thread => {
    const built = (name: string) => new URL(`../../../modules/${name}.js`, import.meta.url).href;
    const code = wrapper(built("store/sqlite/driver"), built(file.replace(/\.cjs$/, "")));
    const worker = new Worker(code, {
      eval: true,
      workerData: { ...(input as ThreadInput), ...(patience === null ? {} : { patience }), fault: shared },
    });
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
