// What a check is given: the ledger, the dump, and both looked up.
import type { Dump } from "../dump.ts";
import type { Ledger } from "../ledger.ts";
import type { Data, FunctionFacts } from "../workloads/workload.ts";
import { StoreHours } from "./store-hours.ts";

export interface Evidence {
  readonly ledger: Ledger;
  readonly dump: Dump;
  readonly functions: readonly FunctionFacts[];
  readonly app: string;
  readonly eventWindowMs: number;
  /** How long a reply may be on its way at most. */
  readonly replyMaxMs: number;
  readonly restedAfterMs: number | null;
  readonly backoffMs: number;
}

export type Check = (facts: Facts, fail: (detail: string) => void) => void;

type Run = Dump["runs"][number];
type Decision = Dump["decisions"][number];
type StoredEvent = Dump["events"][number];
type Memo = Dump["memos"][number];

export class Facts {
  readonly ledger: Ledger;
  readonly dump: Dump;
  readonly hours: StoreHours;
  readonly events: ReadonlyMap<string, StoredEvent>;
  readonly runs: ReadonlyMap<string, Run>;
  readonly memos: ReadonlyMap<string, Memo>;
  readonly decisionsOf: ReadonlyMap<string, readonly Decision[]>;
  private readonly byId: ReadonlyMap<string, FunctionFacts>;

  constructor(readonly evidence: Evidence) {
    const { ledger, dump, functions } = evidence;
    this.ledger = ledger;
    this.dump = dump;
    this.hours = new StoreHours(ledger.storeClockDrifts);
    this.events = new Map(dump.events.map((event) => [event.id, event]));
    this.runs = new Map(dump.runs.map((run) => [run.id, run]));
    this.memos = new Map(dump.memos.map((memo) => [memo.run.id, memo]));
    this.decisionsOf = groupBy(dump.decisions, ({ eventId }) => eventId);
    this.byId = new Map(functions.map((fn) => [fn.id, fn]));
  }

  of(run: { readonly fn: string }): FunctionFacts | undefined {
    return this.byId.get(run.fn.slice(this.evidence.app.length + 1));
  }

  /** What the run was started with. An event that is gone is found by its own check; here it is as good as empty. */
  data(run: { readonly eventId: string }): Data {
    return JSON.parse(this.events.get(run.eventId)?.data ?? "{}") as Data;
  }

  root(runId: string): string {
    let run = this.runs.get(runId);
    while (run?.rerunOf != null) run = this.runs.get(run.rerunOf);
    return run?.id ?? runId;
  }

  /**
   * When the commit that stored this event took effect, in the world's time: also when its decisions and runs began. An event
   * that no commit stored is found by its own check; nothing can be said about its time.
   */
  storedAt(eventId: string): number {
    return this.ledger.stored.get(eventId) ?? Number.NaN;
  }
}

export const isEnded = ({ state }: { readonly state: string }): boolean =>
  state === "completed" || state === "failed" || state === "cancelled";

export function groupBy<T, K>(list: readonly T[], keyOf: (item: T) => K): Map<K, T[]> {
  const groups = new Map<K, T[]>();
  for (const item of list) {
    const key = keyOf(item);
    const group = groups.get(key);
    if (group === undefined) groups.set(key, [item]);
    else group.push(item);
  }
  return groups;
}
