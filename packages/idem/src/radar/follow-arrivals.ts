// The radar's own journey through the rows: from where it stopped, one bounded page at a look. Findings are raised first, announced
// second, and only then does the position move: a look that was cut short is made again, and every part of it is the same twice.
//
// Of many nodes one follows: the one that moved the position last goes on from its own memory. Another one takes over only when events
// lie behind the position for longer than a look takes.
import { createHash } from "node:crypto";
import type { Turns } from "../model/turns.ts";
import { makeUlid, ulidTime } from "../model/ulid.ts";
import { dayMs } from "../model/window.ts";
import type { Raised } from "../store/alerts.ts";
import { rollbackKind } from "../store/history.ts";
import type { Store } from "../store/store.ts";
import {
  isClose,
  newForMs,
  newSourceOf,
  type Position,
  sourceNamedIn,
  sourcesSetUp,
  type WatchedSource,
  withCodeSources,
} from "./close-watch.ts";
import { DuplicateWatch, type WatchContext, type WatchedFunction } from "./duplicate-watch.ts";
import { EffectWatch, withoutClosed } from "./effect-watch.ts";
import { type FoundAlert, mergeFound, wordsOf } from "./found-alert.ts";
import { type RadarRule, readRules, ruleKind } from "./rules.ts";

export const radarLimits = {
  // Ids are made before their commit. Later commits than this are left to doctor.
  settleMs: 2_000,
  // A few milliseconds of reading.
  pageMax: 500,
  // A node that follows looks at least this often; beyond it another one does.
  takeOverMs: 3_000,
  // For what is remembered of before: as far as the default rule looks.
  lookBackMs: 60_000,
  lookBackPagesMax: 20,
  // On a store the radar has never read: older history is doctor's.
  startBackMs: 10 * 60 * 1_000,
  rulesMs: 5_000,
  tendMs: 60_000,
  newForMs,
  quietMs: 7 * dayMs,
  knownFunctionsMax: 2_000,
} as const;

// A key that was taken again and again has as many; beyond it an alert more is no harm.
const groupRunsEach = 20;

/** Sent once for each alert and entity; functions can be triggered by it. */
export const detectedEvent = "idem/duplicate.detected";

export interface FollowOptions {
  readonly store: Pick<Store, "raise" | "judge" | "follow" | "reads" | "shared">;
  readonly env: string;
  /** By the store's clock. */
  readonly now: () => number;
  readonly newId: () => string;
  readonly functionOf: (fn: string) => WatchedFunction;
  /** Sends events under names of Idem's own. */
  readonly announce: (events: readonly Record<string, unknown>[]) => Promise<void>;
  readonly warn: (line: string) => void;
  readonly turns: Turns;
}

export class ArrivalFollower {
  private watch = new DuplicateWatch();
  private effects = new EffectWatch();
  private at: (Position & { readonly version: number }) | null = null;
  private rules: {
    readonly list: readonly RadarRule[];
    readonly sources: readonly WatchedSource[];
    readonly readAt: number;
  } | null = null;
  private tendedAt = 0;

  constructor(private readonly options: FollowOptions) {}

  /** One bounded look; says how many events it read. */
  async look(): Promise<number> {
    try {
      return await this.lookOnce();
    } catch (error) {
      // Seen and not announced, it must be seen anew.
      this.at = null;
      this.effects = new EffectWatch();
      throw error;
    }
  }

  private async lookOnce(): Promise<number> {
    const { store, env, now: clock } = this.options;
    const { settleMs, pageMax, takeOverMs } = radarLimits;
    const now = clock();
    const kept = await store.reads.radarPosition(env);
    if (this.at === null || this.at.version !== (kept?.version ?? 0)) {
      const position = kept === null ? null : (JSON.parse(kept.position) as Position);
      if (position !== null && store.shared !== null) {
        const late = { after: position.after, before: firstIdOf(now - settleMs - takeOverMs), limit: 1 };
        if ((await store.reads.arrivals(env, late)).rows.length === 0) return 0;
      }
      const start = position ?? { after: firstIdOf(now - radarLimits.startBackMs), since: {} };
      await this.remember(start);
      this.at = { ...start, version: kept?.version ?? 0 };
    }
    await this.tend(now);
    const { rules } = await this.context(this.at, now);
    const doubled = await this.effects.look(store.reads, env, rules, now);
    await this.raise(await withoutClosed(store.reads, env, doubled));
    const { after, version } = this.at;
    const { rows, firsts } = await store.reads.arrivals(env, {
      after,
      before: firstIdOf(now - settleMs),
      limit: pageMax,
    });
    const last = rows.at(-1);
    if (last === undefined) return 0;
    const since = sinceOf(
      this.at.since,
      rows.flatMap(({ decisions }) => decisions.map(({ fn, decidedAt }) => [fn, decidedAt] as const)),
    );
    const sources = sinceOf(
      this.at.sources ?? {},
      rows.flatMap(({ event }) => {
        const source = sourceNamedIn(event);
        return source === null ? [] : [[source, event.receivedAt] as const];
      }),
    );
    const byId = new Map(firsts.map((event) => [event.id, event]));
    await this.raise(
      await this.withoutAllowed(
        await this.watch.see(rows, byId, await this.context({ since, sources }, now), this.options.turns),
      ),
    );
    const position: Position = { after: last.event.id, since, sources };
    const moved = await store.follow({ env, position: JSON.stringify(position), over: version });
    this.at = moved.kind === "moved" ? { ...position, version: moved.version } : null;
    return rows.length;
  }

  /** Leaves out runs that `afterFailure: "release"` let run again: they were asked for. Only the rows of both runs show it. */
  private async withoutAllowed(found: readonly FoundAlert[]): Promise<readonly FoundAlert[]> {
    const { store, env } = this.options;
    const ids = found.flatMap(({ kind, pairs }) => (kind === "key-ran-again" ? pairs.map((pair) => pair.laterId) : []));
    if (ids.length === 0) return found;
    const grouped = await store.reads.groupRuns(env, ids, ids.length * groupRunsEach);
    const allowed = new Set(grouped.flatMap(({ run, isAfterFailure }) => (isAfterFailure ? run.id : [])));
    return found.flatMap((each) => {
      const pairs =
        each.kind === "key-ran-again" ? each.pairs.filter(({ laterId }) => !allowed.has(laterId)) : each.pairs;
      return pairs.length === 0 ? [] : { ...each, pairs };
    });
  }

  private async raise(seen: readonly FoundAlert[]): Promise<void> {
    if (seen.length === 0) return;
    const { store, env, newId } = this.options;
    const found = mergeFound(seen);
    const alerts = found.map(({ facts, ...each }) => ({ ...each, id: newId(), facts: JSON.stringify(facts) }));
    await this.tell(await store.raise({ env, alerts }), found);
  }

  /**
   * Looks again at what came shortly before the position, and announces none of it: that was done then. Arrivals this node saw itself it
   * still knows: of nodes that take turns, each reads an arrival once.
   */
  private async remember({ after, ...seen }: Position): Promise<void> {
    const { store, env, now } = this.options;
    const at = ulidTime(after);
    let from = firstIdOf((Number.isNaN(at) ? 0 : at) - radarLimits.lookBackMs);
    const own = this.at?.after ?? "";
    if (from <= own && own <= after) from = own;
    else this.watch = new DuplicateWatch();
    const context = await this.context(seen, now());
    for (let page = 0; page < radarLimits.lookBackPagesMax; page++) {
      // The position itself was read as well.
      const filter = { after: from, before: `${after}~`, limit: radarLimits.pageMax };
      const { rows, firsts } = await store.reads.arrivals(env, filter);
      await this.watch.see(rows, new Map(firsts.map((event) => [event.id, event])), context, this.options.turns);
      if (rows.length < radarLimits.pageMax) return;
      from = rows.at(-1)!.event.id;
    }
  }

  private async context({ since, sources }: Omit<Position, "after">, now: number): Promise<WatchContext> {
    const { store, env, functionOf } = this.options;
    if (this.rules === null || now - this.rules.readAt >= radarLimits.rulesMs) {
      const list = readRules(await store.reads.settings(env, ruleKind));
      this.rules = { list, sources: await sourcesSetUp(store.reads, env), readAt: now };
    }
    const { list: rules, sources: setUp } = this.rules;
    const all = withCodeSources(setUp, sources);
    return {
      functionOf,
      isNew: (fn) => isClose(since[fn] ?? now, now),
      newSourceOf: (event) => newSourceOf(all, event, now),
      rules,
    };
  }

  private async tell(raised: readonly Raised[], found: ReturnType<typeof mergeFound>): Promise<void> {
    const { functionOf, announce, warn } = this.options;
    const events = new Map<string, Record<string, unknown>>();
    for (const [i, { alert, added, isNew }] of raised.entries()) {
      if (added === 0 || alert.state === "muted") continue;
      const { facts, pairs } = found[i]!;
      const name = alert.fn === "" ? "" : functionOf(alert.fn).name;
      const words = wordsOf({ ...alert, facts }, name);
      if (isNew) warn(`idem: ${words.title}. ${words.next} (idem radar ${alert.id})`);
      for (const { entity, firstId, laterId, at } of pairs) {
        const { id: alertId, kind, subject } = alert;
        const data = { alertId, kind, function: alert.fn === "" ? null : alert.fn, subject, of: facts.of };
        const id = `duplicate-${alertId}-${digest(entity)}`;
        if (events.has(id)) continue;
        const pair = { entity: JSON.parse(entity) as unknown, firstId, laterId, at };
        events.set(id, { name: detectedEvent, id, data: { ...data, ...pair, line: words.line } });
      }
    }
    if (events.size > 0) await announce([...events.values()]);
  }

  /** Alerts whose reason is gone are closed: the function got a key, or nothing came for a week. */
  private async tend(now: number): Promise<void> {
    if (now - this.tendedAt < radarLimits.tendMs) return;
    this.tendedAt = now;
    const { store, env, functionOf } = this.options;
    for (const state of ["open", "acknowledged"] as const) {
      for (const { id, kind, fn, lastAt } of await store.reads.alerts(env, { state, limit: 100 })) {
        const key = /^(doubled-runs|maybe-doubled)$/.test(kind) ? functionOf(fn).keyExpression : null;
        // That writes were lost is over at once, and stays until an operator knows of it.
        const isQuiet = now - lastAt >= radarLimits.quietMs && !(kind === rollbackKind && state === "open");
        if (key === null && !isQuiet) continue;
        const note = key === null ? "seven days without another" : `the function has a key now: ${key}`;
        await store.judge({ env, id, verdict: "close", until: null, by: "idem", note });
      }
    }
  }
}

/** Functions and sources seen for the first time are noted; of too many, those that are known for longest are forgotten last. */
function sinceOf(known: Position["since"], seen: readonly (readonly [string, number])[]): Position["since"] {
  const fresh = seen.filter(([fn]) => !Object.hasOwn(known, fn));
  if (fresh.length === 0) return known;
  const all = { ...Object.fromEntries(fresh.toReversed()), ...known };
  return Object.keys(all).length <= radarLimits.knownFunctionsMax ? all : known;
}

/** No id of this instant or later is smaller. */
const firstIdOf = (ms: number): string => makeUlid(Math.max(0, Math.floor(ms)), new Uint8Array(10));

const digest = (text: string): string => createHash("sha256").update(text).digest("base64url").slice(0, 22);
