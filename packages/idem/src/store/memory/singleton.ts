// At most one open run for a key. The claim is held as long as its run is open and not a moment longer.

import type { SingletonRule } from "../../flow/singleton/plan.ts";
import { singletonAsk, singletonScope } from "../../flow/singleton/plan.ts";
import { askClaim } from "../../model/claim.ts";
import type { Effects } from "./effects.ts";
import { endRun } from "./end-run.ts";
import { type Moment, type Tables, untroubled } from "./tables.ts";

/** The open run that has the key; null when it is free. */
export function singletonHolder(tables: Tables, fn: string, { key }: SingletonRule): string | null {
  const claim = tables.claim(singletonScope(fn), key);
  if (claim === null || !claim.held) return null;
  return tables.runs.get(claim.holder)?.endState === null ? claim.holder : null;
}

export function countSkipped(tables: Tables, at: Moment, fn: string, { key }: SingletonRule): void {
  const claim = tables.claim(singletonScope(fn), key)!;
  tables.putClaim({ ...claim, asked: claim.asked + 1, lastAskedAt: at.now });
}

export function takeSingleton(
  tables: Tables,
  at: Moment,
  effects: Effects,
  fn: string,
  runId: string,
  rule: SingletonRule,
): void {
  const holder = singletonHolder(tables, fn, rule);
  if (holder !== null && rule.mode === "cancel") cancelHolder(tables, at, effects, holder, rule);
  const scope = singletonScope(fn);
  const before = tables.claim(scope, rule.key);
  const ask = singletonAsk(fn, rule.key, runId);
  tables.putClaim(askClaim(before === null ? null : { ...before, held: false }, ask, at).claim);
}

/** In one commit with the start of the next run, so at no time are two of them open. */
function cancelHolder(
  tables: Tables,
  at: Moment,
  effects: Effects,
  runId: string,
  { result, releaseKey = false }: { readonly result: string; readonly releaseKey?: boolean },
): void {
  const woken = endRun(tables, at, runId, { state: "cancelled", result, releaseKey, fence: null });
  if (woken.some(({ leasedBy }) => leasedBy === null)) effects.hasWoken = true;
  const id = `announce:${runId}`;
  tables.jobs.put(id, {
    id,
    kind: "announce",
    runId,
    rank: at.now,
    dueAt: null,
    fence: 0,
    leasedBy: null,
    ...untroubled,
    isBornLeased: false,
  });
  effects.jobs.add(id);
  effects.cancelled.push({ runId, result });
}
