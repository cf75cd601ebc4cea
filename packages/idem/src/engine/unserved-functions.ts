// Due runs of a function that no node has would wait in silence: a deployment that lacks it, or an app that never connected. Each node
// warns of functions it does not have itself, because no node knows what another one has. What it sees is that nothing happens:
//
//   a run is overdue? ──no──▶ nothing else is read
//     └─yes─▶ of a function that is not here, with none at work and no limit to wait for ──the same run at the next look──▶ warned of
import type { FlowConfig } from "../flow/options.ts";
import type { Platform } from "../platform/platform.ts";
import type { StoreReads } from "../store/reads.ts";
import { Housekeeping } from "./housekeeping.ts";
import type { Registry } from "./registry.ts";
import type { StoreTime } from "./store-time.ts";
import type { Telling } from "./telling.ts";

// A node with the function takes a due run at once, and finds one that it was not notified of within a second. Overdue, then seen twice: an
// operator reads of it within ten seconds.
const lookMs = 3_000;
const overdueMs = 3_000;
const repeatMs = 10 * 60_000;
// Counting walks over all open work: it takes no more than a two hundredth of the time.
const restsPerLook = 200;
// Runs whose sleep is over have no place in a queue to be recognized by.
const looksWithoutId = 3;
const lanesMax = 100;

export interface UnservedFunctionsOptions {
  readonly store: { readonly reads: Pick<StoreReads, "oldestDue" | "counts" | "lines"> };
  readonly platform: Pick<Platform, "timer" | "monoMs">;
  readonly time: Pick<StoreTime, "reached">;
  readonly env: string;
  readonly registry: Pick<Registry, "get" | "displayName">;
  readonly runsHere: (fn: string) => boolean;
  readonly telling: Pick<Telling, "tell">;
  readonly report: (what: string, error: unknown) => void;
}

interface Suspect {
  /** Its oldest run in a queue, by lane. */
  readonly oldestIds: ReadonlySet<string>;
  readonly looks: number;
  readonly warnedMono: number;
}

export class UnservedFunctions {
  private readonly housekeeping: Housekeeping;
  private suspects = new Map<string, Suspect>();

  constructor(private readonly options: UnservedFunctionsOptions) {
    this.housekeeping = new Housekeeping(options.platform);
  }

  start(): void {
    this.housekeeping.paced(lookMs, () => this.look());
  }

  stop(): void {
    this.housekeeping.stop();
  }

  /** Says how long it is until the next look. */
  private async look(): Promise<number> {
    const { store, platform, time, env, report } = this.options;
    const begunMono = platform.monoMs();
    try {
      const oldest = await store.reads.oldestDue(env);
      if (oldest === null || time.reached() - oldest < overdueMs) this.suspects.clear();
      else await this.judge();
    } catch (error) {
      report("looking for functions that no node has", error);
    }
    return Math.max(lookMs, restsPerLook * (platform.monoMs() - begunMono));
  }

  private async judge(): Promise<void> {
    const { store, platform, env, registry, runsHere, telling } = this.options;
    const { dueByFunction, byFunction } = await store.reads.counts(env);
    const before = this.suspects;
    const suspects = new Map<string, Suspect>();
    for (const [fn, dueRuns] of Object.entries(dueByFunction)) {
      if (runsHere(fn) || (byFunction[fn]?.running ?? 0) > 0 || mayWaitForLimit(registry.get(fn)?.config)) continue;
      const lines = await store.reads.lines(env, { fn, limit: lanesMax });
      const oldestIds = new Set(lines.flatMap(({ oldestId }) => (oldestId === null ? [] : [oldestId])));
      const known = before.get(fn);
      const looks = (known?.looks ?? 0) + 1;
      const isSame = [...oldestIds].some((id) => known?.oldestIds.has(id) === true);
      const isStuck = isSame || (oldestIds.size === 0 && looks >= looksWithoutId);
      const mono = platform.monoMs();
      let warnedMono = known?.warnedMono ?? Number.NEGATIVE_INFINITY;
      if (isStuck && mono - warnedMono >= repeatMs) {
        warnedMono = mono;
        telling.tell({ kind: "function.unserved", env, function: registry.displayName(fn), dueRuns });
      }
      suspects.set(fn, { oldestIds, looks, warnedMono });
    }
    this.suspects = suspects;
  }
}

/** Its runs may wait although a node has it: for their turn, or for slots that other functions hold. */
function mayWaitForLimit(config: FlowConfig | undefined): boolean {
  if (config === undefined) return false;
  return (
    config.throttle !== undefined ||
    (config.concurrency ?? []).some(({ scope, limit }) => scope !== "fn" || limit === 0)
  );
}
