// Runs of functions without a key, taken together by the radar's best guess: by the field it suggests as a key, or by one that shows in
// the runs at hand. Runs taken together are judged here: certainly twice, or maybe the same.
import { Expressions } from "../model/expression.ts";
import { evaluateKey } from "../model/expression-outcome.ts";
import { differingPaths, fromJson } from "../model/json.ts";
import { chargeCost, readingCost } from "../model/metered-cost.ts";
import type { Work } from "../model/turns.ts";
import { dayMs } from "../model/window.ts";
import type { RunSummary } from "../store/reads.ts";
import { findDoubledRuns, type StartedRun } from "./doubled-runs.ts";
import { fieldsOf, isDelivery, isIdentity, isTime } from "./fields.ts";
import type { KnownFunctions } from "./functions-known.ts";

export interface Guess {
  /** `event.data.placementId` */
  readonly expression: string;
  /** JSON text of what the run is about. */
  readonly entity: string;
}

/** A second run this close to the first is one asking delivered twice. */
export const nearMs = 60_000;

// Compiled once for all requests; suggestions are few.
const expressions = new Expressions(1_000);

/** `dataOf`: the event's data as JSON text, null when it was too large to look at. */
export async function guessEntities(
  runs: readonly RunSummary[],
  dataOf: (runId: string) => string | null,
  functions: KnownFunctions,
  work: Work,
): Promise<ReadonlyMap<string, Guess>> {
  const guesses = new Map<string, Guess>();
  for (const fn of new Set(runs.map((run) => run.fn))) {
    const some = runs.filter((run) => run.fn === fn);
    const expression = functions.guessOf(fn) ?? (await shownBy(fn, some, dataOf, work));
    if (expression === null) continue;
    for (const run of some) {
      const data = dataOf(run.id);
      if (data === null) continue;
      const turn = work.next();
      if (turn !== undefined) await turn;
      const found = work.do(() => {
        chargeCost(readingCost(data));
        return evaluateKey(expressions.stored(expression), { event: { data: fromJson(data) } });
      });
      if (found.kind === "key") guesses.set(run.id, { expression, entity: found.key });
    }
  }
  return guesses;
}

async function shownBy(
  fn: string,
  runs: readonly RunSummary[],
  dataOf: (runId: string) => string | null,
  work: Work,
): Promise<string | null> {
  if (runs.length < 2) return null;
  const options = { nearMs, windowMs: dayMs, runsMax: runs.length };
  const { byField } = await findDoubledRuns({ name: fn, keyExpression: null }, started(), options);
  return byField?.expression ?? null;

  /** Taking one means reading it, so its turn is awaited before. */
  async function* started(): AsyncGenerator<StartedRun> {
    for (const run of runs) {
      const data = dataOf(run.id);
      if (data === null) continue;
      const turn = work.next();
      if (turn !== undefined) await turn;
      work.do(() => chargeCost(readingCost(data) + judgingCost));
      yield { runId: run.id, key: null, createdAt: run.createdAt, event: { name: fn, data } };
    }
  }
}

// The cost of trying a run's identities as keys, once all are known.
const judgingCost = 500;

// "eventType", "action", "status": what tells two messages about one thing apart, not two things.
const typeLike = /(type|action|kind|status|state|event|operation|verb|version|source|topic)s?$/i;

/** Whether two payloads are equal apart from ids, times and type-like fields. */
export function isSameApart(one: string, other: string): boolean {
  const [a, b] = [fromJson(one), fromJson(other)];
  const paths = differingPaths({ data: a }, { data: b }, 50);
  if (paths.length === 50) return false;
  const fields = new Map([...fieldsOf(a), ...fieldsOf(b)].map((field) => [field.path.replace(/^event\./, ""), field]));
  return paths.every((path) => {
    const field = fields.get(path);
    const name = field?.name ?? path.split(".").at(-1)!;
    return typeLike.test(name) || (field !== undefined && (isTime(field) || isDelivery(field) || isIdentity(field)));
  });
}
