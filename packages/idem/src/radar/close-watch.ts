// What is new is watched closely: for its first seven days a function, or a source of webhooks, alerts on its very first duplicate, weak
// signs included.
import { dayMs } from "../model/window.ts";

export const newForMs = 7 * dayMs;

/** The kind of setting a source of webhooks is kept as (toolkit/webhooks/source-setting.ts). */
export const watchedSourceKind = "webhook-source";

export interface WatchedSource {
  readonly name: string;
  /** Names of its events begin so. */
  readonly prefix: string;
  readonly since: number;
}

/** Of settings that hold secrets, only these parts are looked at. */
export const readSources = (settings: readonly { readonly name: string; readonly value: string }[]): WatchedSource[] =>
  settings.flatMap(({ name, value }) => {
    const { config, createdAt } = JSON.parse(value) as { config?: { events?: string }; createdAt?: number };
    return createdAt === undefined ? [] : [{ name, prefix: `${config?.events ?? name}/`, since: createdAt }];
  });

export const isClose = (since: number, now: number): boolean => now - since < newForMs;

/** The source an event came from, while it is new. */
export const newSourceOf = (sources: readonly WatchedSource[], eventName: string, now: number): WatchedSource | null =>
  sources.find(({ prefix, since }) => eventName.startsWith(prefix) && isClose(since, now)) ?? null;
