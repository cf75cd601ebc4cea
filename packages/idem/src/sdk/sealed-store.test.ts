// Secrets at rest: a reader of the file or the database, a backup or a dump, gets no secret from it.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, onTestFinished, test, vi } from "vitest";
import { storeWorld, temporaryFolder } from "../cli/store-world.ts";
import { openText, readKeyring, sealedKinds, sealText } from "../model/seal.ts";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { nodePlatform } from "../platform/node-platform.ts";
import { channelKind } from "../radar/channels.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { openInlineStore } from "../store/sqlite/inline-store.ts";
import { loadMigrations } from "../store/sqlite/migrations.ts";
import type { Store } from "../store/store.ts";
import { sourceKind } from "../toolkit/webhooks/source-setting.ts";
import { Idem } from "./client.ts";
import { lookAtSecrets, resealSettings, type Sealing, sealStore } from "./sealed-store.ts";

const first = "11".repeat(32);
const second = "22".repeat(32);
const machine = new ManualPlatform();
const randomBytes = (count: number) => machine.randomBytes(count);
const ring = (...keys: string[]) => readKeyring(keys.join(","));
const secret = JSON.stringify({ secrets: [{ secret: "whsec_of_the_shop" }] });

function file() {
  const path = join(temporaryFolder(), "shop.db");
  return {
    path,
    open: (keyring: Sealing["keyring"], over: Partial<Sealing> = {}) =>
      sealStore(openInlineStore({ path, migrations: loadMigrations(), clock: nodePlatform, owner: "a test" }), {
        keyring,
        isShared: false,
        isClearAllowed: false,
        randomBytes,
        ...over,
      }),
  };
}

const set = (store: Store, value: string | null = secret, name = "stripe") =>
  store.set({ env: "default", kind: sourceKind, name, value, over: null, reason: "a test" });
const valuesIn = async (store: Store) => (await store.reads.settings("default", sourceKind)).map(({ value }) => value);

test("what is sealed are the kinds of settings that hold secrets", () => {
  expect([...sealedKinds].sort()).toEqual([channelKind, sourceKind].sort());
});

describe("a secret that is kept under a key", () => {
  test("is nowhere in the file, and is read back by whoever has the key", async () => {
    const { path, open } = file();
    const store = open(ring(first));
    await set(store);
    expect(await valuesIn(store)).toEqual([secret]);
    await store.close();
    expect(readFileSync(path).includes("whsec_of_the_shop")).toBe(false);
    const again = open(ring(second, first));
    expect(await valuesIn(again)).toEqual([secret]);
    await again.close();
  });

  test("is not read without it: the error says which key is missing, and nothing is lost", async () => {
    const { open } = file();
    const store = open(ring(first));
    await set(store);
    await store.close();
    for (const keyring of [null, ring(second)]) {
      const without = open(keyring);
      const id = ring(first)![0]!.id;
      await expect(valuesIn(without)).rejects.toMatchObject({
        code: "SECRET_KEY_MISSING",
        facts: { id },
      });
      expect(await lookAtSecrets(without.reads)).toEqual({ clear: 0, sealed: 1, missing: [id] });
      await without.close();
    }
    const found = open(ring(first));
    expect(await valuesIn(found)).toEqual([secret]);
    await found.close();
  });

  test("does not open in another row, nor when a bit of it was changed", () => {
    const keyring = ring(first)!;
    const place = { env: "default", kind: sourceKind, name: "stripe" };
    const sealed = sealText(keyring, place, secret, randomBytes);
    expect(openText(keyring, place, sealed)).toBe(secret);
    for (const other of [
      { ...place, env: "test" },
      { ...place, kind: channelKind },
      { ...place, name: "github" },
    ]) {
      expect(() => openText(keyring, other, sealed)).toThrow(/SECRET_UNREADABLE/);
    }
    const changed = sealed.slice(0, -3) + (sealed.at(-3) === "A" ? "B" : "A") + sealed.slice(-2);
    expect(() => openText(keyring, place, changed)).toThrow(/SECRET_UNREADABLE/);
    expect(() => openText(keyring, place, sealed.slice(0, 40) + '"')).toThrow(/SECRET_UNREADABLE/);
  });

  test("set again as it is, is the same change told twice", async () => {
    const { open } = file();
    const store = open(ring(first));
    expect([await set(store), await set(store)]).toEqual([
      { kind: "set", version: 1 },
      { kind: "set", version: 1 },
    ]);
    await store.close();
  });
});

test("rotation seals everything with the first key, what stood in clear too, and the old key is not needed after it", async () => {
  const { path, open } = file();
  const clear = open(null);
  await set(clear, secret, "clear");
  await clear.close();
  const before = open(ring(first));
  await set(before, secret, "sealed");
  await before.close();
  const during = open(ring(second, first));
  expect(await resealSettings(during, "a test")).toEqual({ sealed: 2, same: 0 });
  expect(await resealSettings(during, "a test")).toEqual({ sealed: 0, same: 2 });
  await during.close();
  const after = open(ring(second));
  expect(await valuesIn(after)).toEqual([secret, secret]);
  expect(await lookAtSecrets(after.reads)).toEqual({ clear: 0, sealed: 2, missing: [] });
  await after.close();
  // The secret in clear, written over, is nowhere in the file either.
  expect(readFileSync(path).includes("whsec_of_the_shop")).toBe(false);
});

test("what a process with the old key changes during a rotation is sealed with the new one as well", async () => {
  const store = new MemoryStore(new ManualPlatform());
  const changed = JSON.stringify({ secrets: [{ secret: "whsec_changed" }] });
  const place = { env: "default", kind: sourceKind, name: "stripe" };
  const { set: setRaw, reads } = store;
  const raw = reads.settings.bind(reads);
  await setRaw.call(store, { ...place, value: secret, over: null, reason: "a test" });
  const others = [sealText(ring(first)!, place, changed, randomBytes)];
  const racing: Store = Object.assign(store, {
    set: async (input: Parameters<Store["set"]>[0]) => {
      const value = others.pop();
      if (value !== undefined) await setRaw.call(store, { ...input, value, over: null });
      return setRaw.call(store, input);
    },
  });
  const sealing = { isShared: true, isClearAllowed: false, randomBytes };
  expect(await resealSettings(sealStore(racing, { ...sealing, keyring: ring(second, first) }), "a test")).toEqual({
    sealed: 1,
    same: 0,
  });
  const [kept] = await raw("default", sourceKind);
  expect(openText(ring(second), place, kept!.value)).toBe(changed);
});

test("a secret that does not open keeps nobody from the others, nor from removing it", async () => {
  const { open } = file();
  for (const [key, name] of [
    [first, "lost"],
    [second, "known"],
  ] as const) {
    const store = open(ring(key));
    await set(store, secret, name);
    await store.close();
  }
  const store = open(ring(second));
  const [known, lost] = await store.reads.settings("default", sourceKind);
  expect([known!.value, lost!.name, lost!.version]).toEqual([secret, "lost", 1]);
  expect(() => lost!.value).toThrow(/SECRET_KEY_MISSING/);
  expect(await set(store, null, "lost")).toMatchObject({ kind: "set" });
  expect(await valuesIn(store)).toEqual([secret]);
  await store.close();
});

describe("a process says at its start, once,", () => {
  const started = async (path: string, key: string) => {
    vi.stubEnv("IDEM_SECRET_KEY", key);
    onTestFinished(() => void vi.unstubAllEnvs());
    const warned: string[] = [];
    const logger = { debug() {}, info() {}, warn: (line: string) => void warned.push(line), error() {} };
    const idem = new Idem({ id: "shop", store: `sqlite:${path}`, logger });
    let ran = 0;
    idem.createFunction({ id: "count" }, { event: "order/paid" }, () => {
      ran += 1;
    });
    await idem.start();
    await idem.send({ name: "order/paid" });
    await idem.idle();
    await idem.stop();
    return { warned, ran };
  };

  test("that secrets are kept in clear, and how they are sealed", async () => {
    const { path, open } = file();
    const store = open(null);
    await set(store);
    await store.close();
    const { warned } = await started(path, "");
    expect(warned).toEqual([expect.stringMatching(/^idem: 1 setting with secrets .* in clear .*idem secret rotate$/)]);
    expect((await started(path, "")).warned).toHaveLength(1);
  });

  test("which keys it does not have, and runs what needs no secret", async () => {
    const { path, open } = file();
    const store = open(ring(first));
    await set(store);
    await store.close();
    const { warned, ran } = await started(path, second);
    expect(warned).toEqual([expect.stringContaining(`does not have key ${ring(first)![0]!.id}`)]);
    expect(ran).toBe(1);
    expect((await started(path, first)).warned).toEqual([]);
  });
});

test("a shared database takes no secret in clear unless it was said so, and what stood there before is still read", async () => {
  const { open } = file();
  const before = open(null);
  await set(before);
  await before.close();
  const shared = open(null, { isShared: true });
  await expect(set(shared, "{}", "other")).rejects.toMatchObject({ code: "SECRETS_IN_CLEAR" });
  expect(await valuesIn(shared)).toEqual([secret]);
  await shared.close();
  const told = open(null, { isShared: true, isClearAllowed: true });
  expect(await set(told, "{}", "other")).toMatchObject({ kind: "set" });
  await told.close();
});

test("a key that is no key is refused without a word of it", () => {
  expect(() => readKeyring("hunter2")).toThrow(/SECRET_KEY_INVALID/);
  expect(() => readKeyring(`${first},`)).toThrow(/key 2 of 2/);
  expect(() => readKeyring("hunter2")).not.toThrow(/hunter2/);
  expect([readKeyring(undefined), readKeyring("")]).toEqual([null, null]);
});

test("doctor says what stands in clear, idem secret rotate seals it, and a backup has it sealed", async () => {
  const { terminal, store, folder } = storeWorld();
  await set(store);
  await store.close();
  const told = async () => (await terminal.json("doctor")).findings.map(({ kind }: { kind: string }) => kind);
  expect(await told()).toContain("secrets-in-clear");
  expect(await terminal.run("secret", "rotate")).not.toBe(0);
  terminal.env = (name) =>
    name === "IDEM_SECRET_KEY" ? first : name === "IDEM_STORE" ? `sqlite:${folder}/shop.db` : undefined;
  expect(await terminal.json("secret", "rotate")).toEqual({ sealed: 1, same: 0 });
  expect(await told()).not.toContain("secrets-in-clear");
  expect(await terminal.run("backup", "copy.db")).toBe(0);
  expect(readFileSync(join(folder, "copy.db")).includes("whsec_of_the_shop")).toBe(false);
});
