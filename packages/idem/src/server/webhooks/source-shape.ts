// Sources of webhooks as /api shows them, and how they are found and changed there.
import { z } from "zod";
import { errors } from "../../model/errors.ts";
import { dayMs } from "../../model/window.ts";
import type { Setting } from "../../store/settings.ts";
import type { Store } from "../../store/store.ts";
import {
  readSourceValue,
  type ShownSource,
  type SourceValue,
  shownSource,
  shownWindowMs,
  sourceFields,
  sourceKind,
  sourcePath,
  takesSecret,
} from "../../toolkit/webhooks/source-setting.ts";
import type { World } from "../world.ts";
import { retryHorizonMs } from "./retry-horizon.ts";

export const sourceItem = z.object({
  name: z.string(),
  url: z.string().describe("Give this address to the provider, with the host it reaches this server by"),
  ...sourceFields,
  createdAt: z.number().int(),
  secrets: z
    .array(z.object({ mark: z.string(), addedAt: z.number().int() }))
    .describe("The newest first. A mark tells secrets apart; a secret itself is never shown again"),
  windowMs: z.number().int().describe("How long a delivery is known again"),
  retriesForMs: z
    .number()
    .int()
    .nullable()
    .describe("How long the provider delivers again; null where it is not known"),
  takesSecret: z.boolean().describe("Whether a secret can be made here; other providers show one of their own"),
});

/** Figures of a source's deliveries. */
export const deliveryFigures = {
  day: z
    .record(z.string(), z.number().int())
    .describe("Deliveries of the last 24 hours by what became of them, as far as this process counted"),
  countedSince: z.number().int().describe("Since when: 24 hours ago, or when this process began"),
  lastAt: z.number().int().nullable().describe("When the last one came that was genuine; null when none did"),
};

export const deliveryFiguresOf = (world: World, env: string, name: string, now: number) => ({
  day: world.deliveries.lastDay(env, name, now) as Record<string, number>,
  countedSince: Math.max(world.deliveries.since, now - dayMs),
  lastAt: world.deliveries.of(env, name).lastAt,
});

export const sourceItemOf = (world: World, env: string, shown: ShownSource): z.input<typeof sourceItem> => ({
  ...shown,
  secrets: shown.secrets.map((secret) => ({ ...secret })),
  windowMs: shownWindowMs(shown),
  retriesForMs: retryHorizonMs(shown.provider),
  takesSecret: takesSecret(shown.provider),
  url: `${world.origin}${sourcePath(env, shown.name)}`,
});

/** Its secrets are not looked at. */
export async function findSetting(store: Store, env: string, name: string): Promise<Setting> {
  const setting = (await store.reads.settings(env, sourceKind)).find((each) => each.name === name);
  if (setting === undefined) throw errors.SOURCE_UNKNOWN({ source: name });
  return setting;
}

export async function findSource(
  store: Store,
  env: string,
  name: string,
): Promise<{ readonly setting: Setting; readonly value: SourceValue }> {
  const setting = await findSetting(store, env, name);
  return { setting, value: readSourceValue(setting.value) };
}

interface SourceWrite {
  readonly name: string;
  readonly over: number;
  readonly value: SourceValue | null;
  readonly reason: string;
  readonly actor: string;
}

/** Over the version it was decided with: two people who rotate at once do not lose each other's secret. */
export async function writeSource(
  store: Store,
  env: string,
  { name, over, value, reason, actor }: SourceWrite,
): Promise<void> {
  const json = value === null ? null : JSON.stringify(value);
  const answer = await store.set({ env, kind: sourceKind, name, value: json, over, reason, actor });
  if (answer.kind === "set") return;
  throw over === 0 ? errors.SOURCE_TAKEN({ source: name }) : errors.SOURCE_CHANGED({ source: name });
}

export const shownOf = (setting: Setting): ShownSource => shownSource(setting.name, readSourceValue(setting.value));
