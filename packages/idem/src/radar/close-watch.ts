// New things are watched closely: for its first seven days a function, or a source of webhooks, alerts on its very first duplicate, weak
// signs included.
import type { Event } from "../model/event.ts";
import { ifOpens } from "../model/seal.ts";
import { dayMs } from "../model/window.ts";
import type { StoreReads } from "../store/reads.ts";

export const newForMs = 7 * dayMs;

/** The kind of setting a source of webhooks is kept as (toolkit/webhooks/source-setting.ts). */
export const watchedSourceKind = "webhook-source";

/** The radar's reading position, and what it saw first when; kept in the store. */
export interface Position {
  /** The last event that was read. */
  readonly after: string;
  /** When each function was first seen. */
  readonly since: Readonly<Record<string, number>>;
  /** When each source was first seen that is a receiver in code; absent in positions from before. */
  readonly sources?: Readonly<Record<string, number>>;
}

export interface WatchedSource {
  readonly name: string;
  /** Names of its events begin so; null for a receiver in code, whose events say where they come from. */
  readonly prefix: string | null;
  readonly since: number;
}

/** Of settings that hold secrets, only these parts are looked at. A process that has no key to one watches without it. */
const readSources = (settings: readonly { readonly name: string; readonly value: string }[]): WatchedSource[] =>
  settings.flatMap((setting) => {
    const { name } = setting;
    const value = ifOpens(() => setting.value);
    if (value === null) return [];
    const { config, createdAt } = JSON.parse(value) as { config?: { events?: string }; createdAt?: number };
    return createdAt === undefined ? [] : [{ name, prefix: `${config?.events ?? name}/`, since: createdAt }];
  });

/** Sources that people set up, which are as old as their settings. */
export const sourcesSetUp = async (reads: Pick<StoreReads, "settings">, env: string): Promise<WatchedSource[]> =>
  readSources(await reads.settings(env, watchedSourceKind));

/** With those that are receivers in code: as old as their first delivery. */
export const withCodeSources = (setUp: readonly WatchedSource[], sources: Position["sources"]): WatchedSource[] => [
  ...setUp,
  ...Object.entries(sources ?? {}).flatMap(([name, since]) =>
    setUp.some((source) => source.name === name) ? [] : [{ name, prefix: null, since }],
  ),
];

export const isClose = (since: number, now: number): boolean => now - since < newForMs;

// A receiver's note beside an event may hold the whole delivery; above this it is not read.
const extraCharsMax = 64 * 1024;

/** The source that an event of a receiver names (toolkit/webhooks/keep-in-engine.ts); null for any other event. */
export function sourceNamedIn({ extra }: Pick<Event, "extra">): string | null {
  if (extra === null || extra.length > extraCharsMax || !extra.includes('"webhook"')) return null;
  const { meta } = JSON.parse(extra) as { meta?: { webhook?: { source?: unknown } } };
  const source = meta?.webhook?.source;
  return typeof source === "string" ? source : null;
}

/** The source an event came from, while it is new. */
export function newSourceOf(sources: readonly WatchedSource[], event: Event, now: number): WatchedSource | null {
  const close = sources.filter(({ since }) => isClose(since, now));
  if (close.length === 0) return null;
  const named = close.some(({ prefix }) => prefix === null) ? sourceNamedIn(event) : null;
  return close.find(({ name, prefix }) => (prefix === null ? name === named : event.name.startsWith(prefix))) ?? null;
}

export interface WatchedClosely {
  readonly what: "function" | "source";
  readonly name: string;
  readonly until: number;
}

/** Functions and sources in their first seven days, the newest first. */
export async function watchedClosely(
  reads: Pick<StoreReads, "radarPosition" | "settings">,
  env: string,
  now: number,
): Promise<WatchedClosely[]> {
  const kept = await reads.radarPosition(env);
  const position = kept === null ? null : (JSON.parse(kept.position) as Position);
  const sources = withCodeSources(await sourcesSetUp(reads, env), position?.sources);
  const things = [
    ...Object.entries(position?.since ?? {}).map(([name, since]) => ({ what: "function" as const, name, since })),
    ...sources.map(({ name, since }) => ({ what: "source" as const, name, since })),
  ];
  return things
    .filter(({ since }) => isClose(since, now))
    .sort((a, b) => b.since - a.since || (a.name < b.name ? -1 : 1))
    .map(({ what, name, since }) => ({ what, name, until: since + newForMs }));
}
