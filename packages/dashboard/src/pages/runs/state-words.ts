// The headline over a list that is narrowed by a state or by what runs hold: it tells of those runs, and of no others.
import type { NoteTone } from "../../parts/note.tsx";
import { counted, numberWords } from "./group-words.ts";
import type { GroupItem } from "./groups-data.ts";
import { previewWords } from "./preview-words.ts";
import type { RunsView } from "./runs-view.ts";

const errorsShown = 2;

type State = NonNullable<RunsView["state"]> | "ended";

interface Words {
  readonly tone: NoteTone;
  readonly title: string;
}

const told: Readonly<
  Record<State, { readonly tone: NoteTone; readonly one: string; readonly many: string; readonly none: string }>
> = {
  queued: { tone: "waiting", one: "run stands in line", many: "runs stand in line", none: "No run stands in line" },
  running: { tone: "plain", one: "run is at work", many: "runs are at work", none: "No run is at work" },
  waiting: {
    tone: "plain",
    one: "run waits for a time, an event or another run",
    many: "runs wait for a time, an event or another run",
    none: "No run waits",
  },
  parked: {
    tone: "waiting",
    one: "run is parked until a person lets it go on",
    many: "runs are parked until a person lets them go on",
    none: "No run is parked",
  },
  ended: { tone: "plain", one: "run ended", many: "runs ended", none: "No run ended" },
  completed: { tone: "plain", one: "run completed", many: "runs completed", none: "No run completed" },
  failed: { tone: "failed", one: "run failed", many: "runs failed", none: "No run failed" },
  cancelled: { tone: "plain", one: "run was cancelled", many: "runs were cancelled", none: "No run was cancelled" },
};

/** `isWhole`: there are no more than `count`. */
export function stateWords(state: State, count: number, isWhole: boolean, when: string): Words {
  const { tone, one, many, none } = told[state];
  if (count === 0) return { tone: "plain", title: `${none}${when}.` };
  const title = isWhole ? `${counted(count, one, many)}${when}` : `${numberWords(count)} and more ${many}${when}`;
  return { tone, title };
}

/** The errors the rows failed with, the most frequent first; `others` are rows with rarer ones. */
export function failedWith(rows: readonly GroupItem[]): {
  readonly errors: readonly { readonly text: string; readonly count: number }[];
  readonly others: number;
} {
  const counts = new Map<string, number>();
  for (const { runs } of rows) {
    const run = runs.at(-1);
    const text = run?.state === "failed" ? previewWords(run) : "";
    if (text !== "") counts.set(text, (counts.get(text) ?? 0) + 1);
  }
  const sorted = [...counts].sort(([, a], [, b]) => b - a).map(([text, count]) => ({ text, count }));
  const errors = sorted.slice(0, errorsShown);
  return { errors, others: sorted.slice(errorsShown).reduce((sum, { count }) => sum + count, 0) };
}

/** Nothing of these ran twice; whether something failed is another matter. */
export function matchingWords(rows: readonly GroupItem[], isAll: boolean, when: string): Words {
  if (rows.length === 0) return { tone: "plain", title: `Nothing matches ${when}.` };
  const failed = rows.filter(({ runs }) => runs.at(-1)?.state === "failed").length;
  const ran =
    rows.length === 1
      ? "The one key that matches ran once"
      : `Each of the ${numberWords(rows.length)}${isAll ? "" : " newest"} keys that match ran once`;
  if (failed === 0) return { tone: "good", title: `${ran}.` };
  const which = rows.length === 1 ? "and failed" : `and ${numberWords(failed)} of them failed`;
  return { tone: "failed", title: `${ran}, ${which}.` };
}
