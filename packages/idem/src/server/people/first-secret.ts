// Where nobody set a password, the first start on this machine makes a secret, shows it once and keeps its hash: scrypt over a salt of its
// own. Nodes that start together over one store have one: the second finds it made.
import { scrypt } from "node:crypto";
import { secretBytes, writtenSecret } from "../../model/secret.ts";
import type { Platform } from "../../platform/platform.ts";
import type { Store } from "../../store/store.ts";
import { defaultEnv } from "../admit-caller.ts";

const kind = "operator-secret";
const name = "first-start";

/** As the store keeps it: JSON. */
export type KeptSecret = string;

// Some 50 ms and 16 MB a try: nothing for a person, and 32 letters of chance cannot be guessed anyway.
const cost = { N: 16_384, r: 8, p: 1 } as const;
const hashBytes = 32;
const saltBytes = 16;

export async function keptSecret(store: Store): Promise<KeptSecret | null> {
  const found = (await store.reads.settings(defaultEnv, kind)).find((setting) => setting.name === name);
  return found?.value ?? null;
}

export interface MakeSecret {
  readonly store: Store;
  readonly platform: Pick<Platform, "randomBytes">;
  /** Another in place of the one there is. */
  readonly isRenewed: boolean;
  readonly actor: string;
}

/** The secret, to be shown now and never again; null where there was one already. */
export async function makeSecret({ store, platform, isRenewed, actor }: MakeSecret): Promise<string | null> {
  if (!isRenewed && (await keptSecret(store)) !== null) return null;
  const secret = writtenSecret("password", platform.randomBytes(secretBytes.password));
  const salt = Buffer.from(platform.randomBytes(saltBytes));
  const hash = await secretHash(secret, salt);
  const value = JSON.stringify({ salt: salt.toString("hex"), hash: hash.toString("hex") });
  const reason = isRenewed ? "asked for another" : "made at the first start";
  const answer = await store.set({ env: defaultEnv, kind, name, value, over: isRenewed ? null : 0, reason, actor });
  return answer.kind === "set" ? secret : null;
}

export function readSecret(kept: KeptSecret): { readonly salt: Buffer; readonly hash: Buffer } {
  const { salt, hash } = JSON.parse(kept) as { salt: string; hash: string };
  return { salt: Buffer.from(salt, "hex"), hash: Buffer.from(hash, "hex") };
}

// One after the other: what strangers send must not take the memory of many at once.
let turn: Promise<unknown> = Promise.resolve();

export function secretHash(secret: string, salt: Buffer): Promise<Buffer> {
  const hash = () =>
    new Promise<Buffer>((resolve, reject) =>
      scrypt(secret, salt, hashBytes, cost, (error, key) => (error === null ? resolve(key) : reject(error))),
    );
  const mine = turn.then(hash, hash);
  turn = mine;
  return mine;
}
