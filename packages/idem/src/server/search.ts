// One search: functions, events by name, runs, keys and values in data, by the words one types. Each look is bounded by an index or by
// the newest rows, and says of how many: typing makes the server work no more than that.
import type { Engine } from "../engine/engine.ts";
import { wordOf } from "../model/event-values.ts";
import { fromJson } from "../model/json.ts";
import { chargeCost, readingCost } from "../model/metered-cost.ts";
import { nearestWord } from "../model/nearest-word.ts";
import type { RunState } from "../model/run.ts";
import type { Work } from "../model/turns.ts";
import { isUlid } from "../model/ulid.ts";
import { findEvent } from "../observe/find-event.ts";
import { fieldsOf } from "../radar/fields.ts";
import type { RunSummary } from "../store/reads.ts";
import { eventTypesIn } from "./api/event-types.ts";
import { heardNames } from "./api/heard-names.ts";

const shownMax = 20;
/** Bounds of the newest rows that are looked at. */
export const runsLooked = 500;
export const eventsLooked = 100;
const rowCost = 10;

export interface SearchedValue {
  readonly event: string;
  readonly path: string;
  readonly value: string;
  readonly count: number;
  /** False: there are more than were counted. */
  readonly isAll: boolean;
  /** The newest with it. */
  readonly eventId: string;
  /** Found in all events since its field was chosen, and not only in the newest. */
  readonly isKept: boolean;
}

export interface SearchAnswer {
  readonly runs: readonly { id: string; function: string; key: string | null; state: RunState; createdAt: number }[];
  readonly functions: readonly { id: string; events: readonly string[] }[];
  readonly events: readonly {
    name: string;
    functions: readonly string[];
    recentCount: number;
    lastAt: number | null;
  }[];
  readonly event: { id: string; name: string } | null;
  readonly values: readonly SearchedValue[];
  /** The fields of events that are found however old they are. */
  readonly kept: readonly { event: string; fields: readonly string[] }[];
  /** An event of exactly this name came and no function listens to it. */
  readonly unheard: { name: string; recentCount: number; lastAt: number; meant: string | null } | null;
}

export async function searchAll(engine: Engine, q: string, work: Work): Promise<SearchAnswer> {
  const { store, env, registry } = engine;
  const { reads } = store;
  const words = q
    .toLowerCase()
    .split(/\s+/)
    .filter((word) => word !== "");
  const fits = (...texts: readonly (string | null)[]): boolean =>
    words.every((word) => texts.some((text) => text?.toLowerCase().includes(word) ?? false));
  const id = q.trim().toUpperCase();
  const [exact, event, page, types, newest] = await Promise.all([
    isUlid(id) ? reads.run(env, id) : null,
    words.length === 1 ? findEvent(engine, q.trim()) : null,
    reads.runPage(env, { limit: runsLooked, examinedMax: runsLooked }),
    eventTypesIn(engine, null),
    reads.events(env, { limit: eventsLooked }),
  ]);
  const runs: Omit<RunSummary, "preview">[] = exact === null ? [] : [exact];
  for (const run of page.rows) {
    const turn = work.next();
    if (turn !== undefined) await turn;
    const isFit = work.do(() => {
      chargeCost(rowCost);
      return fits(run.fn, registry.fullName(run.fn), run.key, run.id);
    });
    if (isFit && run.id !== exact?.id) runs.push(run);
    if (runs.length === shownMax || work.isSpent) break;
  }
  const recent = new Map<string, { count: number; lastAt: number }>();
  for (const { name, receivedAt } of newest) {
    const before = recent.get(name);
    recent.set(name, { count: (before?.count ?? 0) + 1, lastAt: Math.max(before?.lastAt ?? 0, receivedAt) });
  }
  const events = types.filter(({ name }) => fits(name));
  const own = types.find(({ name }) => name === q.trim());
  const came = recent.get(q.trim());
  const heard = types.filter(({ functions }) => functions.length > 0).map(({ name }) => name);
  const isUnstarting = own !== undefined && came !== undefined && own.functions.length === 0;
  const isUnheard = isUnstarting && !(await heardNames(engine)).has(own.name);
  const noted = (name: string) => ({
    recentCount: recent.get(name)?.count ?? 0,
    lastAt: recent.get(name)?.lastAt ?? null,
  });
  const near = events.length === 0 || isUnheard ? nearestWord(q.trim(), heard) : null;
  const suggested = near === null ? [] : types.filter(({ name }) => name === near);
  return {
    runs: runs.map(({ id: run, fn, key, state, createdAt }) => ({
      id: run,
      function: registry.fullName(fn),
      key,
      state,
      createdAt,
    })),
    functions: registry.all
      .filter(({ fn }) => fits(fn, registry.fullName(fn)))
      .slice(0, shownMax)
      .map(({ fn, config }) => ({
        id: registry.fullName(fn),
        events: config.triggers.flatMap((trigger) => ("event" in trigger ? [trigger.event] : [])),
      })),
    events: [...suggested, ...events.filter(({ name }) => name !== near)]
      .slice(0, shownMax)
      .map(({ name, functions }) => ({ name, functions, ...noted(name) })),
    event: event === null ? null : { id: event.id, name: event.name },
    values: withKept(await valuesIn(newest, fits, work), await keptValues(engine, words, fits)),
    kept: [...registry.fields].map(([name, fields]) => ({ event: name, fields: [...fields] })),
    unheard: isUnheard ? { name: own.name, recentCount: came.count, lastAt: came.lastAt, meant: near } : null,
  };
}

async function valuesIn(
  events: readonly { readonly id: string; readonly name: string; readonly data: string }[],
  fits: (...texts: readonly (string | null)[]) => boolean,
  work: Work,
): Promise<readonly SearchedValue[]> {
  const found = new Map<string, { -readonly [K in keyof SearchedValue]: SearchedValue[K] }>();
  for (const { id, name, data } of events) {
    const turn = work.next();
    if (turn !== undefined) await turn;
    work.do(() => {
      chargeCost(readingCost(data));
      for (const { path, name: field, value } of fieldsOf(fromJson(data))) {
        const text = String(value);
        // Something of the value itself is meant, and the name may narrow it.
        if (!fits(text, field, name) || fits(field, name)) continue;
        const place = JSON.stringify([name, path, value]);
        const known = found.get(place);
        if (known !== undefined) known.count += 1;
        else
          found.set(place, {
            ...{ event: name, path, value: JSON.stringify(value), count: 1, eventId: id },
            ...{ isAll: true, isKept: false },
          });
      }
    });
    if (found.size >= shownMax || work.isSpent) break;
  }
  return [...found.values()];
}

// Of each word that was typed: its own values, newest first, and those that begin so.
const wordsLooked = 4;
const keptLooked = 200;

/** By an index, in all events whose values are kept. */
async function keptValues(
  { store, env, registry }: Engine,
  words: readonly string[],
  fits: (...texts: readonly (string | null)[]) => boolean,
): Promise<readonly SearchedValue[]> {
  if (registry.fields.size === 0) return [];
  const asked = words.slice(0, wordsLooked).map(wordOf);
  const whole = wordOf(words.join(" "));
  const found = new Map<string, { -readonly [K in keyof SearchedValue]: SearchedValue[K] }>();
  for (const word of new Set([whole, ...asked])) {
    const [same, longer] = await Promise.all([
      store.reads.valuesFound(env, { word, limit: keptLooked }),
      store.reads.valuesFound(env, { word, isBeginning: true, limit: keptLooked }),
    ]);
    for (const [rows, isAll] of [
      [same, same.length < keptLooked],
      [longer, longer.length < keptLooked],
    ] as const)
      for (const { eventId, name, path, value } of rows) {
        if (!fits(value, path, name)) continue;
        const place = JSON.stringify([name, path, value]);
        const known = found.get(place);
        if (known === undefined) {
          found.set(place, { event: name, path, value, count: 1, isAll, eventId, isKept: true });
        } else if (known.eventId !== eventId) {
          known.count += 1;
          if (eventId > known.eventId) known.eventId = eventId;
        }
      }
    if (found.size >= shownMax) break;
  }
  return [...found.values()].slice(0, shownMax);
}

/** Kept values know of more events than the newest do; events from before a field was chosen only the newest know. */
function withKept(recent: readonly SearchedValue[], kept: readonly SearchedValue[]): readonly SearchedValue[] {
  const placeOf = ({ event, path, value }: SearchedValue) => JSON.stringify([event, path, value]);
  const known = new Map(kept.map((each) => [placeOf(each), each]));
  const others = recent.filter((each) => (known.get(placeOf(each))?.count ?? 0) < each.count);
  const shown = new Set(others.map(placeOf));
  return [...kept.filter((each) => !shown.has(placeOf(each))), ...others].slice(0, shownMax);
}
