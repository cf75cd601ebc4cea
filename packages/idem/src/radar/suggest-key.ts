// The key a function should have, from its own newest runs: the expression with its evidence, and why the others will not do.
import { dayMs } from "../model/window.ts";
import type { Store } from "../store/store.ts";
import { type RefusedField, refusedFields, type SeenRun } from "./candidates.ts";
import { findDoubledRuns, type StartedRun, seeRun } from "./doubled-runs.ts";
import type { WatchedFunction } from "./duplicate-watch.ts";
import { lastNameOf, namesAmount } from "./fields.ts";
import { times } from "./finding.ts";
import { type RefusedKey, readRefusedKeys, refusedFor, refusedKeyKind } from "./refused-keys.ts";

const daysBack = 7;
const runsMax = 500;
const readTogether = 50;
// Larger data shows nothing that a smaller one of the same name does not.
const dataBytesMax = 64 * 1024;
const refusedMax = 3;

export interface KeySuggestion {
  /** Null where nothing ran twice, or no field would have prevented it without suppressing something else. */
  readonly expression: string | null;
  /** To be pasted into the function's options. */
  readonly line: string | null;
  readonly keyExpression: string | null;
  readonly runCount: number;
  /** Runs that the key would have answered with an earlier one. */
  readonly suppressedCount: number;
  readonly entityCount: number;
  /** In how many of the runs the expression had a value. */
  readonly presentCount: number;
  /** Paths at which suppressed runs had other data than the one they would have been answered with. */
  readonly differs: readonly string[];
  readonly evidence: readonly string[];
  readonly refused: readonly RefusedField[];
  /** Refused by people; not offered again. */
  readonly leftOut: readonly RefusedKey[];
}

export async function suggestKey(
  { reads }: Pick<Store, "reads">,
  env: string,
  fn: string,
  { name, keyExpression }: WatchedFunction,
  now: number,
): Promise<KeySuggestion> {
  const leftOut = refusedFor(readRefusedKeys(await reads.settings(env, refusedKeyKind)), fn);
  const without = leftOut.map((each) => each.expression);
  const options = { nearMs: 60_000, windowMs: dayMs, runsMax, without };
  const all = await startedRuns(reads, env, fn, now - daysBack * dayMs);
  // Runs that had a key, when the function had one, tell nothing about its fields.
  const started = keyExpression === null ? all.filter(({ key }) => key === null) : all;
  const seen: SeenRun[] = started.map(seeRun);
  const { byField, runCount } = await findDoubledRuns({ name, keyExpression }, started, options);
  const expression = keyExpression === null ? (byField?.expression ?? null) : null;
  const slipped = byField?.doubled.reduce((sum, { runIds }) => sum + runIds.length - 1, 0) ?? 0;
  const suppressedCount = expression === null ? 0 : slipped + (byField?.alsoAnswered ?? 0);
  const differs = expression === null ? [] : (byField?.differs ?? []);
  return {
    expression,
    line: expression === null ? null : `idempotency: ${JSON.stringify(expression)},`,
    keyExpression,
    runCount,
    suppressedCount,
    entityCount: byField?.entityCount ?? 0,
    presentCount: expression === null ? 0 : byField!.presentCount,
    differs,
    evidence:
      expression === null
        ? []
        : evidenceOf({ runCount, suppressedCount, presentCount: byField!.presentCount, differs }),
    refused: refusedFields(seen, expression, options).slice(0, refusedMax),
    leftOut,
  };
}

// As many as a person keeps in mind; the rest is counted.
const differencesTold = 3;

function evidenceOf(found: Pick<KeySuggestion, "runCount" | "suppressedCount" | "presentCount" | "differs">): string[] {
  const { runCount, suppressedCount, presentCount, differs } = found;
  const names = [...new Set(differs.map(lastNameOf))];
  const more = names.length > differencesTold ? ` and ${names.length - differencesTold} more` : "";
  const amounts = names.some(namesAmount) ? "" : "; no amount differed";
  return [
    `It would have suppressed ${suppressedCount} of ${times(runCount, "run")} in ${daysBack} days.`,
    names.length === 0
      ? `None of the ${suppressedCount} had other data than its first run.`
      : `The ${suppressedCount} differed from their first run in ${names.slice(0, differencesTold).join(", ")}${more} only${amounts}.`,
    presentCount === runCount
      ? `The field was there in all ${times(runCount, "run")}.`
      : `The field was there in ${presentCount} of ${times(runCount, "run")}. Runs without it would start as they do now.`,
  ];
}

/** The newest of the last days, with what their events brought. */
async function startedRuns(reads: Store["reads"], env: string, fn: string, since: number): Promise<StartedRun[]> {
  const { rows } = await reads.runPage(env, { fn, since, limit: runsMax, examinedMax: 10_000 });
  const runs = rows.filter(({ rerunOf }) => rerunOf === null);
  const started: StartedRun[] = [];
  for (let i = 0; i < runs.length; i += readTogether) {
    const part = runs.slice(i, i + readTogether);
    const ids = part.map(({ id }) => id);
    const found = new Map((await reads.runPayloads(env, ids, dataBytesMax)).map((payload) => [payload.runId, payload]));
    for (const { id, key, createdAt } of part) {
      const { eventName = null, data = null } = found.get(id) ?? {};
      if (eventName !== null && data !== null)
        started.push({ runId: id, key, createdAt, event: { name: eventName, data } });
    }
  }
  return started;
}
