// Reads a world's store at its end.
import { basename } from "node:path";
import { effectOf, effectScopes } from "../../model/effect.ts";
import type { Store } from "../../store/store.ts";
import type { Json, SeenEffect, Thing, WorldRun } from "../thing.ts";
import { placeIn } from "./caller.ts";
import { isOurs } from "./our-folder.ts";

/** More than any world has. */
const rowsMax = 1_000;

/** Runs of one function, the first one first. */
export async function runsOf(store: Store, env: string, fn: string): Promise<WorldRun[]> {
  const runs = await store.reads.runs(env, { fn, limit: rowsMax });
  return runs.toReversed().map(({ id, state, result, rerunOf }) => {
    return { id, fn, state, error: state === "completed" ? null : errorText(result), isRerun: rerunOf !== null };
  });
}

/** Of all functions: those that a person would rerun. The invoker of a run gets its failure, and invokes it again. */
export async function failedRuns(store: Store, env: string): Promise<{ readonly id: string; readonly fn: string }[]> {
  const runs = await store.reads.runs(env, { limit: rowsMax });
  const failed = runs.filter(({ state }) => state === "failed" || state === "cancelled").reverse();
  if (failed.length === 0) return [];
  const events = await store.reads.events(env, { limit: rowsMax });
  const invoked = new Set(events.filter(({ name }) => name === "inngest/function.invoked").map(({ id }) => id));
  return failed.filter(({ eventId }) => !invoked.has(eventId));
}

/** The ids of the steps in which a run waits under this name. */
export async function openWaits(store: Store, env: string, runId: string, name: string): Promise<string[]> {
  const memo = await store.reads.runMemo(env, runId);
  return (memo?.waits ?? []).flatMap((wait) => (wait.name === name ? [wait.stepId] : []));
}

/** Those that `idem effects --parked` would list. */
export async function parkedEffects(store: Store, env: string, now: number): Promise<string[]> {
  const claims = await store.reads.claims(env, { under: effectScopes, limit: rowsMax });
  return claims.flatMap((claim) => {
    const effect = effectOf(claim, now);
    return effect?.state === "parked" ? [effect.id] : [];
  });
}

/** Events that functions sent, those that were taken as new. `delivered` are ids of what came from outside. */
export async function sentEvents(
  store: Store,
  env: string,
  delivered: ReadonlySet<string>,
  sent: readonly SeenEffect[],
  effects: readonly SeenEffect[],
): Promise<Thing[]> {
  const events = await store.reads.events(env, { limit: rowsMax });
  // Events from a relay stood in an outbox before: theirs is the line that put them there.
  const put = effects.find(({ title }) => /^INSERT .*\/idem_outbox$/.test(title));
  return events
    .filter(({ name, callerId, firstEventId }) => {
      return firstEventId === null && !name.startsWith("inngest/") && !(callerId !== null && delivered.has(callerId));
    })
    .map(({ name, data }) => {
      const own = sent.filter(({ title }) => title === `event ${name}`);
      const by = own.findLast(({ place }) => place !== null) ?? put ?? own.at(-1);
      return {
        watcher: "events",
        destination: "events",
        path: [name],
        isAddressed: false,
        state: JSON.parse(data) as Json,
        by: by?.fn ?? null,
        effect: by?.index ?? 0,
        made: [],
      };
    })
    .reverse();
}

/** "TypeError: … (functions.ts:12)", with the user's own line. */
function errorText(result: string | null): string | null {
  if (result === null) return null;
  const { name = "Error", message, stack = null } = JSON.parse(result) as Partial<Error>;
  if (message === undefined) return null;
  const place = placeIn(stack, isOurs);
  return `${name}: ${message}${place === null ? "" : ` (${basename(place.file)}:${place.line})`}`;
}
