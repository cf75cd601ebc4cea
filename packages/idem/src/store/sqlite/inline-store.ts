// The store in the caller's own thread, one commit per call: for tests, for the simulator and for `:memory:`.
// An operation happens in full before the call returns its promise, so whole operations interleave and nothing smaller does. A file that is
// locked or full is waited for no longer than the handle itself waits; the refusal says that nothing was stored.

import { IdemError } from "../../model/errors.ts";
import type { StoreReads } from "../reads.ts";
import { operationNames, type Store } from "../store.ts";
import { type Call, type CallAnswer, readAnswer } from "./calls.ts";
import { type CoreOptions, SqliteCore } from "./core.ts";
import { judgeFailure, refusalOf } from "./storage-failure.ts";

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
      const beganMono = options.clock.monoMs();
      const answer = commitOne(core, { name, input }, () => options.clock.monoMs() - beganMono);
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

function commitOne(core: SqliteCore, call: Call, forMs: () => number): CallAnswer {
  try {
    return core.commit([call])[0]!;
  } catch (error) {
    const failure = error instanceof IdemError ? null : judgeFailure(error);
    if (failure === null) throw error;
    throw refusalOf(failure, { path: core.path, forMs: forMs(), isUnsure: false });
  }
}
