// Sources of webhooks as /api shows them, and how they are found and changed there.
import { z } from "zod";
import { errors } from "../../model/errors.ts";
import type { Setting } from "../../store/settings.ts";
import type { Store } from "../../store/store.ts";
import {
  readSourceValue,
  type ShownSource,
  type SourceValue,
  shownSource,
  sourceFields,
  sourceKind,
} from "../../toolkit/webhooks/source-setting.ts";
import { defaultEnv } from "../admit-caller.ts";
import type { World } from "../world.ts";

export const sourceItem = z.object({
  name: z.string(),
  url: z.string().describe("Give this address to the provider, with the host it reaches this server by"),
  ...sourceFields,
  createdAt: z.number().int(),
  secrets: z
    .array(z.object({ mark: z.string(), addedAt: z.number().int() }))
    .describe("The newest first. A mark tells secrets apart; a secret itself is never shown again"),
});

export const sourceItemOf = (world: World, env: string, shown: ShownSource): z.input<typeof sourceItem> => ({
  ...shown,
  secrets: shown.secrets.map((secret) => ({ ...secret })),
  url: `${world.origin}${sourcePath(env, shown.name)}`,
});

export const sourcePath = (env: string, name: string): string =>
  env === defaultEnv ? `/w/${name}` : `/w/${encodeURIComponent(env)}/${name}`;

export async function findSource(
  store: Store,
  env: string,
  name: string,
): Promise<{ readonly setting: Setting; readonly value: SourceValue }> {
  const setting = (await store.reads.settings(env, sourceKind)).find((each) => each.name === name);
  if (setting === undefined) throw errors.SOURCE_UNKNOWN({ source: name });
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
