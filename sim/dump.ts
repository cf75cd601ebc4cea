// Everything the store holds, taken through its reads once the world is at rest.
import type { Store } from "./engine.ts";

export type Dump = Awaited<ReturnType<typeof dumpStore>>;

const pageMax = 1_000;

export async function dumpStore(store: Store, env: string) {
  const { reads } = store;
  const events = await everyPage((before) => reads.events(env, { ...before, limit: pageMax }));
  const runs = await everyPage((before) => reads.runs(env, { ...before, limit: pageMax }));
  const decisions = [];
  for (const { id } of events) decisions.push(...(await reads.decisionsOfEvent(env, id)));
  const memos = [];
  for (const { id } of runs) {
    // Null when the run's event is gone; check-guarantees.ts says so.
    const memo = await reads.runMemo(env, id);
    if (memo !== null) memos.push(memo);
  }
  const claims = await reads.claims(env, { limit: pageMax * 10 });
  return { events, runs, decisions, memos, claims };
}

async function everyPage<T extends { readonly id: string }>(
  read: (before: { before?: string }) => Promise<readonly T[]>,
): Promise<T[]> {
  const all: T[] = [];
  for (;;) {
    const page = await read(all.length === 0 ? {} : { before: all.at(-1)!.id });
    all.push(...page);
    if (page.length < pageMax) return all.reverse();
  }
}
