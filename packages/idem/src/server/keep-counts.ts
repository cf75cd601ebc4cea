// Counts decisions by hour, for headlines and charts, behind everybody's back: one bounded commit at a time, and none while nothing new
// was decided. Of many nodes each counts what it finds; the store counts nothing twice.
import type { Engine } from "../engine/engine.ts";
import { Housekeeping } from "../engine/housekeeping.ts";
import { gatheredKinds } from "../model/decision.ts";
import type { Platform } from "../platform/platform.ts";

// 1,000 decisions are counted in some 5 ms, in which commits wait; between two such pieces there is room for others.
const countedAtOnce = 1_000;
const pieceMs = 50;
const lookMs = 5_000;
// Ids are made before their commit, and by the clock of the process that makes them: what is younger may still get neighbours.
const ownLagMs = 15_000;
const sharedLagMs = 60_000;

export interface CountKeeper {
  /** Resolves once nothing is asked of the store any more. */
  stop(): Promise<void>;
}

export function keepCounts(engine: Engine, platform: Pick<Platform, "timer">): CountKeeper {
  const { store, env } = engine;
  const lagMs = store.shared === null ? ownLagMs : sharedLagMs;
  const housekeeping = new Housekeeping(platform);
  /** The newest event that was decided when everything had been counted, and old enough to be. */
  let counted: string | null = null;

  async function turn(): Promise<number> {
    try {
      const newest = (await store.reads.decisionPage(env, { limit: 1, examinedMax: 1 })).rows[0];
      if (newest === undefined || newest.eventId === counted) return lookMs;
      const until = engine.now() - lagMs;
      const { isAll } = await store.count({ env, until, max: countedAtOnce });
      if (!isAll) return pieceMs;
      // An event in a buffer holds the counting up, and is decided again without a newer one.
      if (newest.decidedAt < until && (await isNothingBuffered())) counted = newest.eventId;
    } catch (error) {
      engine.health.report("counting by the hour", error);
    }
    return lookMs;
  }

  async function isNothingBuffered(): Promise<boolean> {
    const counts = await store.reads.pendingCounts(env);
    return gatheredKinds.every((kind) => (counts[kind] ?? 0) === 0);
  }

  let turning: Promise<number> | null = null;
  housekeeping.paced(lookMs, () => {
    turning = turn();
    return turning;
  });
  return {
    stop: async () => {
      housekeeping.stop();
      await turning;
    },
  };
}
