import { expect, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { MemoryStore } from "../../store/memory/store.ts";
import { keptSecret, makeSecret } from "./first-secret.ts";
import { Passwords } from "./passwords.ts";

const noSecret = async () => null;
const bothRoles = ["operator", "viewer"] as const;

test("each password has its role, and nothing near one is one", async () => {
  const passwords = new Passwords({ password: "open sesame", viewerPassword: "look only" }, noSecret);
  expect(passwords.roleOf("open sesame", bothRoles)).toBe("operator");
  expect(passwords.roleOf("look only", bothRoles)).toBe("viewer");
  for (const wrong of ["", "open sesam", "open sesame ", "Open sesame", "x".repeat(2_000)]) {
    expect([
      wrong.slice(0, 20),
      passwords.roleOf(wrong, bothRoles),
      await passwords.roleOfAny(wrong, bothRoles),
    ]).toEqual([wrong.slice(0, 20), null, null]);
  }
});

test("a password that is set to nothing lets nobody in", async () => {
  const passwords = new Passwords({ password: "", viewerPassword: "" }, noSecret);
  expect([
    passwords.roleOf("", bothRoles),
    await passwords.roleOfAny("", bothRoles),
    await passwords.roleKeys(),
  ]).toEqual([null, null, []]);
});

test("the secret of the first start is made once, kept hashed, and the only one that opens", async () => {
  const platform = new ManualPlatform();
  const store = new MemoryStore(platform);
  const asked = { store, platform, isRenewed: false, actor: "cli on here" };
  const secret = (await makeSecret(asked))!;
  expect(secret).toMatch(/^[2-9a-z]{4}(-[2-9a-z]{4}){7}$/);
  expect(await makeSecret(asked)).toBeNull();
  const kept = JSON.stringify(await store.reads.settings("default", "operator-secret"));
  expect(kept).not.toContain(secret);
  expect(JSON.stringify(await store.reads.auditPage("default", { limit: 9 }))).not.toContain(secret);
  const passwords = new Passwords({}, () => keptSecret(store));
  expect(await passwords.roleOfAny(secret, bothRoles)).toBe("operator");
  expect(await passwords.roleOfAny(`${secret}x`, bothRoles)).toBeNull();
  // Tools show signing keys; hashing a guess for each of their requests would be work for strangers to ask for.
  expect(passwords.roleOf(secret, bothRoles)).toBeNull();
});

test("another secret ends the one before", async () => {
  const platform = new ManualPlatform();
  const store = new MemoryStore(platform);
  const asked = { store, platform, isRenewed: false, actor: "cli on here" };
  const first = (await makeSecret(asked))!;
  const passwords = new Passwords({}, () => keptSecret(store));
  const [roleKey] = await passwords.roleKeys();
  const second = (await makeSecret({ ...asked, isRenewed: true }))!;
  expect([await passwords.roleOfAny(first, bothRoles), await passwords.roleOfAny(second, bothRoles)]).toEqual([
    null,
    "operator",
  ]);
  expect((await passwords.roleKeys())[0]!.key).not.toEqual(roleKey!.key);
});

test("of nodes that start together one makes the secret", async () => {
  const platform = new ManualPlatform();
  const store = new MemoryStore(platform);
  const asked = { store, platform, isRenewed: false, actor: "cli on here" };
  const made = await Promise.all([makeSecret(asked), makeSecret(asked), makeSecret(asked)]);
  expect(made.filter((secret) => secret !== null)).toHaveLength(1);
  const passwords = new Passwords({}, () => keptSecret(store));
  expect(await passwords.roleOfAny(made.find((secret) => secret !== null)!, bothRoles)).toBe("operator");
});
