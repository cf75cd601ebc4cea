// The store in the caller's own thread, one commit per call: for tests, for the simulator and for `:memory:`.
// An operation happens in full before the call returns its promise, so whole operations interleave and nothing smaller does.
import type { StoreReads } from "../reads.ts";
import type { Store } from "../store.ts";
import { type CoreOptions, operationNames, readAnswer, SqliteCore } from "./core.ts";

export function openInlineStore(options: CoreOptions): Store {
  const core = new SqliteCore(options);
  const store: Record<string, unknown> = {
    shared: null,
    outbox: null,
    transactional: null,
    close: async () => core.close(),
  };
  for (const name of operationNames) {
    store[name] = async (...input: unknown[]) => {
      const answer = core.commit([{ name, input }])[0]!;
      core.tend();
      return readAnswer(answer);
    };
  }
  const reads: Record<string, unknown> = {};
  for (const name of Object.keys(core.reads) as (keyof StoreReads)[]) {
    reads[name] = async (...input: unknown[]) => core.read(name, input);
  }
  store.reads = reads;
  return store as unknown as Store;
}
