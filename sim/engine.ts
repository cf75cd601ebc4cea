// The engine under test, loaded from a folder: the built package, or a copy of it with a defect (mutants.ts).
import { dirname, join } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import type * as Index from "../packages/idem/modules/index.js";
import type * as BeatRule from "../packages/idem/modules/model/beats.js";
import type {
  CrashPoint,
  HttpRequest,
  HttpResponse,
  Platform,
  Thread,
  Timer,
} from "../packages/idem/modules/platform/platform.js";
import type { HeartbeatAnswer } from "../packages/idem/modules/store/leases.js";
import type * as Memory from "../packages/idem/modules/store/memory/store.js";
import type * as Batches from "../packages/idem/modules/store/postgres/batches.js";
import type * as TellOthers from "../packages/idem/modules/store/postgres/tell-others.js";
import type * as Transactions from "../packages/idem/modules/store/postgres/transactions.js";
import type { Beat, Beats, BeatsOptions, StoreHint } from "../packages/idem/modules/store/sharing.js";
import type * as Inline from "../packages/idem/modules/store/sqlite/inline-store.js";
import type * as Migrations from "../packages/idem/modules/store/sqlite/migrations.js";
import type { Store, StoreWrites } from "../packages/idem/modules/store/store.js";

export type {
  Beat,
  Beats,
  BeatsOptions,
  CrashPoint,
  HeartbeatAnswer,
  HttpRequest,
  HttpResponse,
  Platform,
  Store,
  StoreHint,
  StoreWrites,
  Thread,
  Timer,
};
export type Idem = InstanceType<typeof Index.Idem>;

export interface EngineUnderTest {
  readonly Idem: typeof Index.Idem;
  readonly IdemError: typeof Index.IdemError;
  readonly MemoryStore: typeof Memory.MemoryStore;
  readonly openInlineStore: typeof Inline.openInlineStore;
  readonly Batches: typeof Batches.Batches;
  readonly Transactions: typeof Transactions.Transactions;
  readonly nextBeat: typeof BeatRule.nextBeat;
  readonly hintsOf: typeof TellOthers.hintsOf;
  readonly migrations: ReturnType<typeof Migrations.loadMigrations>;
}

/** The repository's root, from sim/ as well as from sim/dist/. */
export const root = (() => {
  const here = dirname(fileURLToPath(import.meta.url));
  return here.endsWith("dist") ? join(here, "..", "..") : join(here, "..");
})();

export const builtEngine = join(root, "packages", "idem", "modules");

export async function loadEngine(folder = builtEngine): Promise<EngineUnderTest> {
  const load = (file: string): Promise<any> => import(pathToFileURL(join(folder, file)).href);
  const [index, memory, inline, batches, transactions, tellOthers, migrations, beatRule] = await Promise.all([
    load("index.js"),
    load("store/memory/store.js"),
    load("store/sqlite/inline-store.js"),
    load("store/postgres/batches.js"),
    load("store/postgres/transactions.js"),
    load("store/postgres/tell-others.js"),
    load("store/sqlite/migrations.js"),
    load("model/beats.js"),
    // Loaded when a store is opened or an engine starts: in a world no time passes for it.
    load("engine/engine.js"),
    load("sdk/watch-duplicates.js"),
  ]);
  return {
    Idem: index.Idem,
    IdemError: index.IdemError,
    MemoryStore: memory.MemoryStore,
    openInlineStore: inline.openInlineStore,
    Batches: batches.Batches,
    Transactions: transactions.Transactions,
    nextBeat: beatRule.nextBeat,
    hintsOf: tellOthers.hintsOf,
    migrations: migrations.loadMigrations(),
  };
}
