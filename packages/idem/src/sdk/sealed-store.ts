// A store whose settings that hold secrets are sealed on their way in and opened on their way out (model/seal.ts). Everything that copies
// rows (backups, migrate-store) carries the sealed texts along.
import { errors } from "../model/errors.ts";
import {
  ifOpens,
  type Keyring,
  openText,
  readKeyring,
  type SealedPlace,
  sealedKinds,
  sealedWith,
  sealText,
} from "../model/seal.ts";
import { environmentVariable } from "../platform/node-platform.ts";
import type { Platform } from "../platform/platform.ts";
import type { Store } from "../store/store.ts";

export interface Sealing {
  readonly keyring: Keyring | null;
  /** Somebody else may read the database: it is kept by others, copied and looked at. */
  readonly isShared: boolean;
  /** IDEM_SECRETS_IN_CLEAR=1 */
  readonly isClearAllowed: boolean;
  readonly randomBytes: Platform["randomBytes"];
}

export const sealingOf = (
  platform: Pick<Platform, "randomBytes">,
  isShared: boolean,
  env = environmentVariable,
): Sealing => ({
  keyring: readKeyring(env("IDEM_SECRET_KEY")),
  isShared,
  isClearAllowed: env("IDEM_SECRETS_IN_CLEAR") === "1",
  randomBytes: (count) => platform.randomBytes(count),
});

/** Of stores that are sealed: their settings as they are kept, and what seals them. */
const kept = new WeakMap<Store["reads"], { readonly raw: Store["reads"]["settings"]; readonly sealing: Sealing }>();

/** Of a store that was just opened; the same store. */
export function sealStore(store: Store, sealing: Sealing): Store {
  const { keyring, isShared, isClearAllowed, randomBytes } = sealing;
  const { set, reads } = store;
  const raw = reads.settings.bind(reads);
  const settings: Store["reads"]["settings"] = async (env, kind) => {
    const found = await raw(env, kind);
    if (!sealedKinds.has(kind)) return found;
    // Opened when looked at: one that does not open keeps nobody from the others, nor from removing it.
    return found.map((each) => ({
      ...each,
      get value() {
        return openText(keyring, { env, kind, name: each.name }, each.value);
      },
    }));
  };
  const sealed: Store["set"] = async (input) => {
    const { env, kind, name, value } = input;
    if (value === null || !sealedKinds.has(kind)) return set.call(store, input);
    if (keyring === null) {
      if (isShared && !isClearAllowed) throw errors.SECRETS_IN_CLEAR({ what: `${kind} "${name}"` });
      return set.call(store, input);
    }
    const place = { env, kind, name };
    // The same value again is the same change: sealed anew it would be another text.
    const existing = (await raw(env, kind)).find((each) => each.name === name);
    const isSame =
      existing !== undefined &&
      sealedWith(existing.value) === keyring[0]!.id &&
      ifOpens(() => openText(keyring, place, existing.value)) === value;
    return set.call(store, { ...input, value: isSame ? existing.value : sealText(keyring, place, value, randomBytes) });
  };
  kept.set(reads, { raw, sealing });
  return Object.assign(store, { set: sealed, reads: Object.assign(reads, { settings }) });
}

export interface SecretsFound {
  readonly clear: number;
  readonly sealed: number;
  /** Ids of keys some are sealed with that this process does not have. */
  readonly missing: readonly string[];
}

/** Counts the secrets of a store, in clear and sealed, without opening one. A store in memory has none at rest. */
export async function lookAtSecrets(reads: Store["reads"], onlyEnv: string | null = null): Promise<SecretsFound> {
  const found = kept.get(reads);
  const missing = new Set<string>();
  let clear = 0;
  let sealed = 0;
  for (const kind of found === undefined ? [] : sealedKinds) {
    for (const env of onlyEnv === null ? await reads.settingEnvironments(kind) : [onlyEnv]) {
      for (const { value } of await found!.raw(env, kind)) {
        const id = sealedWith(value);
        if (id === null) clear += 1;
        else sealed += 1;
        if (id !== null && found!.sealing.keyring?.some((key) => key.id === id) !== true) missing.add(id);
      }
    }
  }
  return { clear, sealed, missing: [...missing].sort() };
}

const settingsWithSecrets = (count: number) => `${count} ${count === 1 ? "setting" : "settings"} with secrets`;

/** Warnings about the secrets in a store, for the start of a process. */
export async function secretsToTell(reads: Store["reads"]): Promise<string[]> {
  const { clear, missing } = await lookAtSecrets(reads);
  const lines: string[] = [];
  if (clear > 0) {
    lines.push(
      `idem: ${settingsWithSecrets(clear)} (webhooks, alert channels) in clear in the store: whoever reads it or a copy has them. Set IDEM_SECRET_KEY (idem secret make secret-key), then: idem secret rotate`,
    );
  }
  if (missing.length > 0) {
    lines.push(
      `idem: IDEM_SECRET_KEY does not have ${missing.map((id) => `key ${id}`).join(", ")}: webhooks and alert channels sealed with it wait for a process that does; everything else goes on. Add it and restart`,
    );
  }
  return lines;
}

export interface Resealed {
  /** Sealed with the first key now. */
  readonly sealed: number;
  /** They were already. */
  readonly same: number;
}

/** Every secret under the ring's first key: after it, the others may be forgotten. Repeat: goes on where it stopped. */
export async function resealSettings(store: Store, actor: string): Promise<Resealed> {
  const [first] = kept.get(store.reads)?.sealing.keyring ?? [];
  if (first === undefined) throw errors.SECRET_KEY_INVALID({ why: "it is not set in the process that has the store" });
  let sealed = 0;
  let same = 0;
  for (const kind of sealedKinds) {
    for (const env of await store.reads.settingEnvironments(kind)) {
      for (const { name } of await store.reads.settings(env, kind)) {
        const isNew = await reseal(store, { env, kind, name }, `sealed with key ${first.id}`, actor);
        if (isNew) sealed += 1;
        else same += 1;
      }
    }
  }
  return { sealed, same };
}

async function reseal(store: Store, place: SealedPlace, reason: string, actor: string): Promise<boolean> {
  for (;;) {
    const found = (await store.reads.settings(place.env, place.kind)).find(({ name }) => name === place.name);
    if (found === undefined) return false;
    const { value, version } = found;
    const answer = await store.set({ ...place, value, over: version, reason, actor });
    if (answer.kind === "set") return answer.version !== version;
    // Somebody changed it meanwhile, perhaps with a key that is to be forgotten.
  }
}
