// An event arrived: which waiting runs does it wake, and which open ones does it cancel? The store narrows by name and one
// equality, this decides the rest.
import type { Event } from "../model/event.ts";
import type { Expressions } from "../model/expression.ts";
import { evaluateFilter } from "../model/expression-outcome.ts";
import { canonicalJson, valueAt } from "../model/json.ts";
import { chargeCost, readingCost } from "../model/metered-cost.ts";
import type { Turns } from "../model/turns.ts";
import type { CancelCandidate } from "../store/flow.ts";
import type { WaitCandidate } from "../store/waits.ts";

/** Look-ups for the paths in use. A value that is missing equals nothing, so it is not looked up at all. */
export function probesOf(payload: unknown, paths: readonly string[]): { path: string; value: string }[] {
  return paths.flatMap((path) => {
    const value = path === "" ? "null" : canonicalJson(valueAt(payload, path));
    return value === "null" ? [] : [{ path, value }];
  });
}

/** A run's own event, as its expressions see it. */
export type PayloadOfRun = (candidate: { readonly event: Event }) => unknown;

/** An event can wake or cancel a hundred thousand runs, each with an expression of its own. */
export interface Deciding {
  readonly expressions: Expressions;
  readonly turns: Turns;
}

export async function wokenBy(
  payload: unknown,
  candidates: readonly WaitCandidate[],
  payloadOfRun: PayloadOfRun,
  { expressions, turns }: Deciding,
): Promise<WaitCandidate[]> {
  const woken: WaitCandidate[] = [];
  for (const candidate of candidates) {
    const turn = turns.next();
    if (turn !== undefined) await turn;
    if (restHolds("waitForEvent.if", payload, candidate, payloadOfRun, expressions)) woken.push(candidate);
  }
  return woken;
}

/** Runs by their id, each once, however many of its entries the event answers. */
export async function cancelledBy(
  payload: unknown,
  candidates: readonly CancelCandidate[],
  payloadOfRun: PayloadOfRun,
  { expressions, turns }: Deciding,
): Promise<string[]> {
  const runIds = new Set<string>();
  for (const candidate of candidates) {
    const turn = turns.next();
    if (turn !== undefined) await turn;
    if (runIds.has(candidate.runId)) continue;
    if (restHolds("cancelOn.if", payload, candidate, payloadOfRun, expressions)) runIds.add(candidate.runId);
  }
  return [...runIds];
}

function restHolds(
  option: string,
  payload: unknown,
  candidate: { readonly runId: string; readonly rest: string | null; readonly event: Event },
  payloadOfRun: PayloadOfRun,
  expressions: Expressions,
): boolean {
  if (candidate.rest === null) return true;
  const scope = { event: payloadOfRun(candidate), async: payload };
  chargeCost(readingCost(candidate.event.data));
  const { rest: expression, runId } = candidate;
  const { pass, reason, failed } = evaluateFilter(expressions.stored(expression), scope);
  if (failed) expressions.onFailed({ fn: null, runId, option, expression, reason: reason! });
  return pass;
}
