// A store in memory that several engines share, as processes share one PostgreSQL: each has a handle of its own, a commit through
// one handle is hinted to the others, and the way to the store can be cut for one of them.
import { errors } from "../model/errors.ts";
import type { WokenRun } from "../store/advance.ts";
import type { Ingested } from "../store/ingest.ts";
import { MemoryStore } from "../store/memory/store.ts";
import type { StoreHint } from "../store/sharing.ts";
import type { Store } from "../store/store.ts";

export interface SharedStoreOptions {
  readonly pollMs?: number;
  /** Hints that never arrive. */
  readonly loses?: (hint: StoreHint) => boolean;
}

/** The store as one process has it. */
export interface Handle {
  readonly store: Store;
  /** Calls made while it is true fail before they reach the store. */
  isCut: boolean;
}

export interface SharedStore {
  handle(): Handle;
  /** The hints so far. */
  readonly hints: readonly StoreHint[];
}

const writes = [
  "register",
  "pause",
  "ingest",
  "redecide",
  "tick",
  "lease",
  "advance",
  "resume",
  "signal",
  "cancel",
  "rerun",
  "unpark",
  "annotate",
  "publish",
  "claim",
  "extend",
  "amend",
  "settle",
  "release",
  "heartbeat",
  "handBack",
  "sweep",
  "prune",
  "raise",
  "judge",
  "follow",
  "set",
  "audit",
] as const satisfies readonly (keyof Store)[];

export function sharedStore(
  clock: { wallMs(): number; monoMs(): number },
  { pollMs = 1_000, loses = () => false }: SharedStoreOptions = {},
): SharedStore {
  const memory: Store = new MemoryStore(clock);
  const listeners = new Set<{ readonly of: Handle; hear(hint: StoreHint): void }>();
  const hints: StoreHint[] = [];

  function handle(): Handle {
    const tell = (said: readonly StoreHint[]) => {
      for (const hint of said) {
        hints.push(hint);
        if (loses(hint)) continue;
        for (const { of, hear } of listeners) if (of !== made && !of.isCut) hear(hint);
      }
    };
    const call =
      (target: object, name: string, isWrite: boolean) =>
      async (...input: readonly unknown[]): Promise<unknown> => {
        if (made.isCut) throw errors.STORE_UNAVAILABLE({ why: "the way to it is cut" });
        const answer = await (target as Record<string, (...input: readonly unknown[]) => unknown>)[name]!(...input);
        if (isWrite) tell(hintsOf(name, input, answer));
        return answer;
      };
    const operations = Object.fromEntries(writes.map((name) => [name, call(memory, name, true)]));
    const reads = new Proxy({}, { get: (_, name: string) => call(memory.reads, name, false) });
    const subscribe = (hear: (hint: StoreHint) => void) => {
      const listener = { of: made, hear };
      listeners.add(listener);
      return () => listeners.delete(listener);
    };
    const store = {
      ...operations,
      reads,
      shared: { pollMs, subscribe, stand: async () => {} },
      outbox: null,
      transactional: null,
      close: async () => {},
    };
    const made: Handle = { store: store as unknown as Store, isCut: false };
    return made;
  }
  return { handle, hints };
}

function hintsOf(name: string, input: readonly unknown[], answer: unknown): StoreHint[] {
  const { env = "" } = (input[0] ?? {}) as { env?: string };
  const of = (typeof input[0] === "string" ? input[0] : env) as string;
  const said = answer as {
    readonly queued?: boolean;
    readonly freed?: boolean;
    readonly changed?: boolean;
    readonly leased?: unknown;
    readonly ingested?: Ingested | null;
    readonly woken?: WokenRun | readonly WokenRun[];
  };
  const woken: readonly WokenRun[] = [said.woken ?? []].flat();
  const hinted: StoreHint[] = [];
  const isQueued =
    said.queued === true ||
    said.ingested?.queued === true ||
    said.freed === true ||
    woken.some(({ leasedBy }) => leasedBy === null) ||
    (name === "rerun" && said.leased === null) ||
    (name === "unpark" && (answer as { kind: string }).kind === "released");
  if (isQueued) hinted.push({ env: of, kind: "queued" });
  for (const { runId, leasedBy } of woken) {
    if (leasedBy !== null) hinted.push({ env: of, kind: "collect", runId, worker: leasedBy });
  }
  if (name === "cancel" && (answer as { kind: string }).kind === "cancelled") {
    hinted.push({ env: of, kind: "collect", runId: (input[0] as { runId: string }).runId, worker: "" });
  }
  if (name === "publish")
    hinted.push({ env: of, kind: "published", channel: (input[0] as { channel: string }).channel });
  if (said.changed === true) hinted.push({ env: of, kind: "registered" });
  return hinted;
}
