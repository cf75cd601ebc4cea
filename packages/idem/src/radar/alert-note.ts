// An alert for the people who put things right: every pair side by side, with what each run's steps gave, as Markdown or as CSV.
import { fromJson } from "../model/json.ts";
import type { Alert, AlertPair } from "../store/alerts.ts";
import type { RunMemo } from "../store/leases.ts";
import type { Store } from "../store/store.ts";
import { instant, times } from "./finding.ts";
import { type AlertFacts, wordsOf } from "./found-alert.ts";
import { cell, type MondayNote, type NotedEntity, type NotedRun, noteAsCsv, sideBySide } from "./monday-note.ts";

// Each is two runs with all their steps; the pages of the API have the rest.
const pairsMax = 500;

export interface AlertNote {
  readonly alert: Alert;
  readonly name: string;
  readonly entities: readonly NotedEntity[];
  /** Pairs that did not fit. */
  readonly left: number;
}

export async function noteOfAlert(
  { reads }: Pick<Store, "reads">,
  env: string,
  alert: Alert,
  name: string,
): Promise<AlertNote> {
  const pairs = await reads.alertPairs(env, alert.id, { limit: pairsMax });
  const { of } = JSON.parse(alert.facts) as AlertFacts;
  const find = (id: string) => (of === "event" ? notedEvent(reads, env, id) : notedRun(reads, env, id));
  const entities: NotedEntity[] = [];
  for (const [value, group] of byEntity(pairs.toReversed())) {
    const ids = [
      ...new Set(group.flatMap(({ firstId, laterId }) => (firstId === null ? [laterId] : [firstId, laterId]))),
    ];
    const runs: NotedRun[] = [];
    for (const id of ids) {
      const run = await find(id);
      if (run !== null) runs.push(run);
    }
    entities.push({ value, runIds: ids, firstAt: group[0]!.at, lastAt: group.at(-1)!.at, runs });
  }
  return { alert, name, entities, left: alert.pairCount - pairs.length };
}

function byEntity(pairs: readonly AlertPair[]): Map<string, AlertPair[]> {
  const groups = new Map<string, AlertPair[]>();
  for (const pair of pairs) groups.set(pair.entity, [...(groups.get(pair.entity) ?? []), pair]);
  return groups;
}

async function notedRun(reads: Store["reads"], env: string, id: string): Promise<NotedRun | null> {
  const memo = await reads.runMemo(env, id);
  return memo === null ? null : noteRun(memo);
}

const noteRun = ({ run, steps }: RunMemo): NotedRun => ({
  id: run.id,
  state: run.state,
  startedAt: run.startedAt ?? run.createdAt,
  steps: steps.map(({ name, outcome }) => ({
    name,
    state: outcome.kind === "error" ? "failed" : "completed",
    output: outcome.kind === "error" ? messageOf(outcome.json) : outcome.json,
  })),
});

function messageOf(json: string): string {
  const error = fromJson(json) as { name?: unknown; message?: unknown } | null;
  return typeof error?.message === "string" ? `${String(error.name ?? "Error")}: ${error.message}` : json;
}

/** An event has no steps: its data stands side by side. */
async function notedEvent(reads: Store["reads"], env: string, id: string): Promise<NotedRun | null> {
  const event = await reads.event(env, id);
  if (event === null) return null;
  return {
    id: event.callerId === null ? event.id : `${event.id} (${event.callerId})`,
    state: event.name,
    startedAt: event.receivedAt,
    steps: [{ name: "data", state: "completed", output: event.data }],
  };
}

export function alertAsMarkdown({ alert, name, entities, left }: AlertNote): string {
  const facts = JSON.parse(alert.facts) as AlertFacts;
  const words = wordsOf({ ...alert, facts }, name);
  const lines = [
    `# ${cell(words.title)}`,
    "",
    `Alert ${alert.id}, ${alert.state}. First ${instant(alert.firstAt)}, last ${instant(alert.lastAt)}.`,
    "",
    cell(words.next),
    "",
    ...(words.line === null ? [] : ["```ts", words.line, "```", ""]),
    ...entities.flatMap((entity) => sideBySide({ expression: alert.subject }, entity)),
    ...(left > 0 ? [`${times(left, "more pair")} ${left === 1 ? "is" : "are"} not listed here.`, ""] : []),
  ];
  return `${lines.join("\n").trimEnd()}\n`;
}

export function alertAsCsv({ alert, name, entities, left }: AlertNote): string {
  const { subject, firstAt, lastAt } = alert;
  const counts = { entityCount: entities.length, runCount: 0, alsoAnswered: 0, entities: "", differs: [], left };
  const found = {
    function: name,
    expression: subject,
    isConfigured: false,
    firstAt,
    lastAt,
    ...counts,
    doubled: entities,
  };
  const note: MondayNote = { store: "", env: "", madeAt: 0, since: 0, nearMs: 0, functions: [found] };
  return noteAsCsv(note);
}
