// Examines the last days' rows for keys: what ran twice, and which keys and ids were too narrow or too broad.
import type { FunctionConfig } from "../model/function-config.ts";
import { type Doubled, doubledFinding, findDoubledRuns } from "../radar/doubled-runs.ts";
import { findEventIdMistakes } from "../radar/event-ids.ts";
import { type Finding, instant, type Rows, times } from "../radar/finding.ts";
import { type RefusedKey, readRefusedKeys, refusedFor, refusedKeyKind } from "../radar/refused-keys.ts";
import { findBroadKeys } from "../radar/suppressed.ts";
import type { Reading } from "./command.ts";

// About 100 MB for what is remembered of them.
const runsMax = 100_000;
const eventsMax = 200_000;

export interface History {
  readonly findings: readonly Finding[];
  readonly doubled: readonly Doubled[];
}

export async function examineHistory(
  reading: Reading,
  configs: ReadonlyMap<string, FunctionConfig>,
  options: { readonly since: number; readonly nearMs: number; readonly windowMs: number },
  onRow: () => void,
): Promise<History> {
  const { rows, env } = reading;
  const { since, nearMs } = options;
  const keyOf = (fn: string): string | null => configs.get(fn)?.idempotency?.key ?? null;
  const refused = readRefusedKeys(await reading.reads.settings(env, refusedKeyKind));
  const findings: Finding[] = [];
  const doubled: Doubled[] = [];
  for (const fn of await rows.functionsWithRuns(env)) {
    const windowMs = configs.get(fn)?.idempotency?.windowMs ?? options.windowMs;
    const leftOut = refusedFor(refused, fn);
    const judged = { nearMs, windowMs, runsMax, without: leftOut.map(({ expression }) => expression) };
    const name = reading.nameOf(fn);
    const runs = counting(rows.openedRuns(env, fn, since), onRow);
    const found = await findDoubledRuns({ name, keyExpression: keyOf(fn) }, runs, judged);
    for (const each of [found.byKey, found.byField]) {
      if (each === null) continue;
      doubled.push(each);
      findings.push(doubledFinding(each, judged));
    }
    if (keyOf(fn) === null) findings.push(...leftOut.map((each) => refusedKey(name, each)));
    if (found.missingKeyCount > 0) findings.push(missingKey(name, keyOf(fn)!, found.missingKeyCount, found.runCount));
    if (found.isCut) findings.push(cut(name));
  }
  findings.push(
    ...(await findEventIdMistakes(counting(rows.receivedEvents(env, since), onRow), { nearMs, eventsMax })),
    ...(await findBroadKeys(
      counting(rows.suppressedEvents(env, since), onRow),
      (fn) => ({ name: reading.nameOf(fn), keyExpression: keyOf(fn) }),
      eventsMax,
    )),
  );
  return { findings, doubled };
}

async function* counting<T>(rows: Rows<T>, onRow: () => void): AsyncGenerator<T> {
  for await (const row of rows) {
    onRow();
    yield row;
  }
}

const missingKey = (name: string, expression: string, count: number, of: number): Finding => ({
  kind: "key-missing",
  level: "problem",
  title: `${count} of ${times(of, "run")} of "${name}" started without a key`,
  details: [`\`${expression}\` was missing, null or failed in their events, so nothing kept them from running twice`],
  next: 'Correct the sender or the expression; onMissing: "reject" holds such events for a person instead',
  facts: { function: name, expression, count, runCount: of },
});

/** A proposal that is left out, and why. */
const refusedKey = (name: string, { expression, reason, by, at }: RefusedKey): Finding => ({
  kind: "key-refused",
  level: "note",
  title: `The key ${expression} is not proposed for "${name}"`,
  details: [`${by === "" ? "somebody" : by} refused it ${instant(at)}: ${reason}`],
  next: null,
  facts: { function: name, expression, reason, by, at },
});

const cut = (name: string): Finding => ({
  kind: "history-cut",
  level: "note",
  title: `"${name}" had more than ${runsMax} runs; the newest were looked at`,
  details: [],
  next: "Look at fewer days with --days",
  facts: { function: name, runsMax },
});
