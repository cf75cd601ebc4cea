// The finds of a search, as rows to choose from: each leads somewhere. Three of each kind, and how many there are.
import type { RunState } from "../../../idem/src/model/run.ts";
import type { Answer } from "../api/client.ts";
import type { IconName } from "../parts/icon.tsx";
import { places, placesUnderEnvironment } from "./navigation.ts";

export interface SearchItem {
  readonly id: string;
  readonly icon: IconName;
  readonly text: string;
  readonly beside: string;
  readonly to: string;
  readonly params?: Readonly<Record<string, string>>;
  readonly search?: Readonly<Record<string, string>>;
  /** Of a run. */
  readonly state?: RunState;
}

export interface SearchPart {
  readonly title: string;
  readonly beside: string;
  readonly items: readonly SearchItem[];
}

const shownOfEach = 3;

/** Of JSON: a text without its quotes. */
const plainOf = (json: string): string => {
  const value: unknown = JSON.parse(json);
  return String(value);
};

/** The events looked at: the newest, and all of those whose fields are chosen. */
const keptWords = (kept: Answer<"GET /api/search">["kept"]): string =>
  kept.length === 0
    ? "newest 100 events looked at"
    : `newest 100 events looked at, all of ${kept
        .slice(0, 2)
        .map(({ event }) => event)
        .join(", ")}${kept.length > 2 ? ` and ${kept.length - 2} more` : ""}`;

/** Says that nothing was found, and where it was looked for; null while something was found, or before the first look. */
export function nothingWords(found: Answer<"GET /api/search"> | undefined): string | null {
  if (found === undefined) return null;
  const { runs, functions, events, event, values, kept } = found;
  const count = runs.length + functions.length + events.length + values.length + (event === null ? 0 : 1);
  const all =
    kept.length === 0
      ? ""
      : `, and of ${kept.length === 1 ? "one kind of event" : `${kept.length} kinds of events`} in all`;
  return count > 0
    ? null
    : `Nothing found in functions, names of events, keys and ids of the newest 500 runs, and data of the newest 100 events${all}.`;
}

export function searchParts(q: string, found: Answer<"GET /api/search"> | undefined): readonly SearchPart[] {
  const parts: SearchPart[] = [];
  const add = (title: string, items: readonly SearchItem[], of = "") => {
    if (items.length === 0) return;
    const shown = items.slice(0, shownOfEach);
    const beside = [items.length > shown.length ? `${shown.length} of ${items.length}` : "", of];
    parts.push({ title, items: shown, beside: beside.filter((each) => each !== "").join(", ") });
  };
  if (found !== undefined) {
    add(
      "Runs",
      found.runs.map(({ id, function: fn, key, state }) => ({
        id: `run ${id}`,
        icon: "runs",
        text: key === null ? `${fn}, ${id}` : `${fn}, key ${key}`,
        beside: state,
        state,
        to: "/runs/$run",
        params: { run: id },
      })),
      "newest 500 looked at",
    );
    add(
      "Functions",
      found.functions.map(({ id, events }) => ({
        id: `function ${id}`,
        icon: "functions",
        text: id,
        beside: events.join(", "),
        to: "/functions/$fn",
        params: { fn: id },
      })),
    );
    add("Events", [
      ...(found.event === null
        ? []
        : [
            {
              id: `event ${found.event.id}`,
              icon: "events" as const,
              text: q,
              beside: found.event.name,
              to: "/events/$event",
              params: { event: found.event.id },
            },
          ]),
      ...found.events.map(({ name, functions, recentCount }) => ({
        id: `name ${name}`,
        icon: "events" as const,
        text: name,
        beside: `${recentCount} of the newest 100, starts ${functions.length === 0 ? "nothing" : functions.length === 1 ? "1 function" : `${functions.length} functions`}`,
        to: "/events",
        search: { name },
      })),
    ]);
    add(
      "Values in data",
      found.values.map(({ event, path, value, count, isAll, isKept }) => ({
        id: `value ${event} ${path} ${value}`,
        icon: "search",
        text: `${event} ${path.replace(/^event\./, "")} = ${value}`,
        beside: `${isAll ? "" : "at least "}${count === 1 ? "1 event" : `${count} events`}`,
        // A kept value is found by an index; an expression looks at the newest runs.
        ...(isKept
          ? { to: "/events", search: { value: plainOf(value) } }
          : { to: "/runs", search: { cel: `${path} == ${value}` } }),
      })),
      keptWords(found.kept),
    );
  }
  const wanted = q.toLowerCase();
  add(
    "Pages",
    [...places, ...placesUnderEnvironment]
      .filter(({ text }) => text.toLowerCase().includes(wanted))
      .map(({ to, text, icon }) => ({ id: `page ${to}`, icon, text, beside: "", to })),
  );
  add("Actions", [
    { id: "explain", icon: "explain", text: `Explain ${q}`, beside: "Enter", to: "/explain", search: { q } },
    // The list takes one text; words that narrow each other are found here.
    ...(/\s/.test(q)
      ? []
      : [{ id: "list", icon: "runs" as const, text: `Runs with ${q}`, beside: "", to: "/runs", search: { q } }]),
    { id: "send", icon: "events", text: "Send a test event", beside: "", to: "/events/new", search: {} },
  ]);
  return parts;
}
