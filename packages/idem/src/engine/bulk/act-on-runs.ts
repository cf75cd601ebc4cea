// The action of bulk work on each run, and the runs it leaves alone. A run is rerun only while no later run stands for its key: so bulk work
// that is asked for twice, or over runs of one key that failed one after the other, makes one run of it.
import { functionScope, isTaken } from "../../model/claim.ts";
import { isEnded } from "../../model/run.ts";
import { derivedUlid } from "../../model/ulid.ts";
import type { RunSummary, StoreReads } from "../../store/reads.ts";
import type { Engine } from "../engine.ts";
import type { BulkAction, LeftOutReason } from "./left-out.ts";

/** Who asks for it, by the id they chose, and since when. */
export interface BulkOrder {
  readonly id: string;
  readonly action: BulkAction;
  /** Kept as the error of runs it cancels. */
  readonly reason: string;
  readonly startedAt: number;
  readonly actor?: string | undefined;
}

/** Enough to fill a group commit, too few to get in the way of the runs themselves. */
export const runsAtOnce = 20;
// Of twenty keys.
const groupRunsMax = 1_000;

/** The new run's id follows from the work's and the old run's: going on after a crash makes no second one. */
export const rerunIdOf = (env: string, order: Pick<BulkOrder, "id" | "startedAt">, runId: string): string =>
  derivedUlid(Math.floor(order.startedAt), `${env}\n${order.id}\n${runId}`);

/** Why some of these runs are left out, by their ids. */
export async function judgeRuns(
  { reads, env }: { readonly reads: StoreReads; readonly env: string },
  order: Pick<BulkOrder, "id" | "action" | "startedAt">,
  runs: readonly RunSummary[],
  now: number,
): Promise<ReadonlyMap<string, LeftOutReason>> {
  const found = new Map<string, LeftOutReason>();
  const leaveOut = (why: LeftOutReason, isOut: (run: RunSummary) => boolean): void => {
    for (const run of runs) if (isOut(run) && !found.has(run.id)) found.set(run.id, why);
  };
  switch (order.action) {
    case "cancel":
      leaveOut("ended", ({ state }) => isEnded(state));
      return found;
    case "release":
      leaveOut("not-parked", ({ state }) => state !== "parked");
      return found;
    case "release-keys": {
      leaveOut("no-key", ({ key }) => key === null);
      leaveOut("open", ({ state }) => !isEnded(state));
      const held = await Promise.all(runs.map((run) => (found.has(run.id) ? null : claimOf(reads, env, run, now))));
      leaveOut("key-elsewhere", (run) => held[runs.indexOf(run)] === null);
      return found;
    }
    case "rerun":
      for (let i = 0; i < runs.length; i += runsAtOnce) {
        const some = runs.slice(i, i + runsAtOnce);
        const grouped = await reads.groupRuns(
          env,
          some.map(({ id }) => id),
          groupRunsMax,
        );
        const groupOf = new Map(grouped.map(({ run, group }) => [run.id, group]));
        for (const { id } of some) {
          const own = rerunIdOf(env, order, id);
          const later = grouped.filter(({ run, group }) => group === groupOf.get(id) && run.id > id);
          // Made by this very work: it is done, and not left out.
          if (later.length === 0 || later.some(({ run }) => run.id === own)) continue;
          const states = later.map(({ run }) => run.state);
          const why = states.includes("completed")
            ? "done-later"
            : states.every(isEnded)
              ? "ended-later"
              : "at-work-later";
          found.set(id, why);
        }
      }
      return found;
  }
}

/** The claim on its function key, while the run itself holds it. */
async function claimOf(reads: StoreReads, env: string, { id, fn, key }: RunSummary, now: number) {
  const claim = key === null ? null : await reads.claim(env, functionScope(fn), key);
  return claim !== null && claim.holder === id && isTaken(claim, now) ? claim : null;
}

/** `runId`: the run that a rerun made. */
export type Acted =
  | { readonly kind: "done"; readonly runId: string | null }
  | { readonly kind: "left-out"; readonly why: LeftOutReason };

/** Repeat: finds it done. */
export async function actOnRun(engine: Engine, order: BulkOrder, run: RunSummary): Promise<Acted> {
  const { store, env } = engine;
  const doneOr = (isDone: boolean, why: LeftOutReason): Acted =>
    isDone ? { kind: "done", runId: null } : { kind: "left-out", why };
  switch (order.action) {
    case "cancel":
      return doneOr((await engine.cancel(run.id, order.reason)).kind === "cancelled", "ended");
    case "release":
      return doneOr((await engine.release(run.id)).kind === "released", "not-parked");
    case "release-keys": {
      const claim = await claimOf(store.reads, env, run, engine.now());
      if (claim === null) return { kind: "left-out", why: "key-elsewhere" };
      const { scope, key } = claim;
      // Each key has its own entry in the audit beside the one of the work: it tells whether a later run of the key slipped through.
      const said = { reason: `${order.reason} (bulk ${order.id})`, actor: order.actor };
      const answer = await store.release({ env, scope, key, fence: null, ...said });
      return doneOr(answer === "released", "key-elsewhere");
    }
    case "rerun": {
      const newRunId = rerunIdOf(env, order, run.id);
      if ((await store.reads.run(env, newRunId)) === null) await engine.rerun(run.id, { newRunId });
      else await store.shared?.stand();
      return { kind: "done", runId: newRunId };
    }
  }
}
