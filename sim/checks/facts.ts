// The facts for a check: the ledger, the dump, and both looked up.
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
  /** The longest a reply may be on its way. */
  readonly replyMaxMs: number;
  readonly faultsOn: readonly string[];
  /** A process whose loop is blocked for longer loses its leases; null where no thread renews them. */
  readonly blockedMaxMs: number | null;
  readonly restedAfterMs: number | null;
  readonly backoffMs: number;
  /** The store's time when the world ended. */
  readonly endedStoreAt: number;
}

export type Check = (facts: Facts, fail: (detail: string) => void) => void;

export type Run = Dump["runs"][number];
export type Decision = Dump["decisions"][number];
export type StoredEvent = Dump["events"][number];
type Memo = Dump["memos"][number];

/** When something happened, in the world's time: the store's clock may have shown its millisecond for a while. */
export interface Moment {
  readonly from: number;
  readonly to: number;
}

export class Facts {
  readonly ledger: Ledger;
  readonly dump: Dump;
  readonly hours: StoreHours;
  readonly events: ReadonlyMap<string, StoredEvent>;
  readonly runs: ReadonlyMap<string, Run>;
  readonly memos: ReadonlyMap<string, Memo>;
  readonly decisionsOf: ReadonlyMap<string, readonly Decision[]>;
  private readonly byId: ReadonlyMap<string, FunctionFacts>;
  /** Runs of which a step was entered, and when first, in the order of all entries. */
  readonly entered: ReadonlyMap<string, number>;

  constructor(readonly evidence: Evidence) {
    const { ledger, dump, functions } = evidence;
    this.ledger = ledger;
    this.dump = dump;
    this.hours = new StoreHours(ledger.storeClockDrifts);
    this.events = new Map(dump.events.map((event) => [event.id, event]));
    this.runs = new Map(dump.runs.map((run) => [run.id, run]));
    this.memos = new Map(dump.memos.map((memo) => [memo.run.id, memo]));
    this.decisionsOf = groupBy(dump.decisions, ({ eventId }) => eventId);
    this.entered = new Map([...ledger.entries].reverse().map(({ run, order }) => [run, order]));
    this.byId = new Map(functions.map((fn) => [fn.id, fn]));
  }

  of(run: { readonly fn: string }): FunctionFacts | undefined {
    return this.byId.get(run.fn.slice(this.evidence.app.length + 1));
  }

  /** The data of the run's event. An event that is gone is found by its own check; here it is as good as empty. */
  data(run: { readonly eventId: string }): Data {
    return JSON.parse(this.events.get(run.eventId)?.data ?? "{}") as Data;
  }

  root(runId: string): string {
    let run = this.runs.get(runId);
    while (run?.rerunOf != null) run = this.runs.get(run.rerunOf);
    return run?.id ?? runId;
  }

  /** The run's events with what the function's key is for each of them: more than one only in a batch. */
  carried(run: Run): readonly { readonly event: StoredEvent; readonly key: string | null }[] {
    const key = this.of(run)?.key;
    return (this.memos.get(run.id)?.events ?? []).map((event) => {
      const value = key?.of(JSON.parse(event.data) as Data) ?? null;
      return { event, key: value === null ? null : JSON.stringify(value) };
    });
  }

  /** When the store's clock showed this; found by its own check where it never did. */
  moment(storeMs: number): Moment {
    return this.ledger.storeClockShown.get(storeMs) ?? { from: Number.NaN, to: Number.NaN };
  }

  /** When the run was created: with its event, unless it had to wait for something. */
  created(run: Run): Moment {
    const fn = this.of(run);
    const waited = fn?.debounce !== undefined || fn?.batch !== undefined || fn?.isPaused === true;
    if (waited || run.rerunOf !== null) return this.moment(run.createdAt);
    const at = this.storedAt(run.eventId);
    return { from: at, to: at };
  }

  /** When the event was decided about: as it was stored, unless something decided it later. */
  decided({ eventId, decidedAt }: Decision): Moment {
    const at = this.storedAt(eventId);
    return this.events.get(eventId)?.receivedAt === decidedAt ? { from: at, to: at } : this.moment(decidedAt);
  }

  /** Whether a person decided it. */
  byPerson({ eventId, fn }: Pick<Decision, "eventId" | "fn">): boolean {
    return this.ledger.redecided.has(`${eventId} ${fn}`);
  }

  /** Whether an invoking step sent it: its target is in nobody's trigger. */
  isInvoked(eventId: string): boolean {
    return this.events.get(eventId)?.name === "inngest/function.invoked";
  }

  /** It stood in line for too long: leased past its lane, only to be ended. */
  neverBegan(run: Run): boolean {
    const within = this.of(run)?.startWithinMs;
    if (within === undefined || run.startedAt === null || this.entered.has(run.id)) return false;
    return run.startedAt - Math.max(run.createdAt, this.events.get(run.eventId)?.ts ?? 0) > within;
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

/** The engine or a person may still act on it. */
export const isPending = ({ kind, runId }: Decision): boolean =>
  runId === null && (kind === "debounced" || kind === "batched" || kind === "paused" || kind === "held");

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
