// Names of events that no trigger has and functions listen to all the same: they cancel runs, or runs wait for them. Waits of code are
// known from runs that waited: those that wait now, and the newest of those that have gone on.
import type { Engine } from "../../engine/engine.ts";

// Recorded steps that are looked at.
const stepsLooked = 5_000;

export async function heardNames({ store, env, registry }: Engine): Promise<ReadonlySet<string>> {
  const cancelling = registry.all.flatMap(({ config }) => (config.cancelOn ?? []).map(({ event }) => event));
  return new Set([...cancelling, ...(await store.reads.awaitedNames(env, stepsLooked))]);
}
