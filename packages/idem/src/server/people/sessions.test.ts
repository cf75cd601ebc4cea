// Sessions by themselves, over a store in memory whose time is moved by hand.
import { expect, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { MemoryStore } from "../../store/memory/store.ts";
import { Passwords } from "./passwords.ts";
import { Sessions, sessionIdleMs, sessionLifeMs, sessionsMax } from "./sessions.ts";

function world(password = "open sesame", platform = new ManualPlatform(), store = new MemoryStore(platform)) {
  const clock = { ms: 1_000_000 };
  const passwords = new Passwords({ password, viewerPassword: "look only" }, async () => null);
  const nodeOf = (with_ = passwords) =>
    new Sessions({ store, platform, now: () => clock.ms, roleKeys: () => with_.roleKeys() });
  const listed = async () => (await store.reads.settings("default", "session")).map(({ value }) => value);
  return { clock, store, nodeOf, sessions: nodeOf(), listed };
}

test("a session is known by its token alone, with the role it was opened for", async () => {
  const { sessions } = world();
  const { token, session } = await sessions.open("viewer", "10.0.0.1");
  expect(Buffer.from(token, "base64url")).toHaveLength(32);
  expect(await sessions.find(token)).toEqual(session);
  expect(session).toMatchObject({ role: "viewer", mark: expect.stringMatching(/^[0-9a-f]{6}$/) });
  expect(await sessions.find(`${token.slice(0, -1)}${token.endsWith("A") ? "B" : "A"}`)).toBeNull();
});

test("the store keeps neither the token nor what pages send along, in no form one could send", async () => {
  const { sessions, store } = world();
  const { token, session } = await sessions.open("operator", "10.0.0.1");
  const kept = JSON.stringify(await store.reads.settings("default", "session"));
  for (const secret of [token, session.csrf, "open sesame"]) expect(kept).not.toContain(secret);
});

test("a session ends after two hours without a request, and stays while there are some", async () => {
  const { sessions, clock } = world();
  const { token } = await sessions.open("operator", "10.0.0.1");
  clock.ms += sessionIdleMs - 1;
  expect(await sessions.find(token)).not.toBeNull();
  clock.ms += sessionIdleMs - 1;
  expect(await sessions.find(token)).not.toBeNull();
  clock.ms += sessionIdleMs;
  expect(await sessions.find(token)).toBeNull();
});

test("it ends after twelve hours, however busy", async () => {
  const { sessions, clock } = world();
  const { token } = await sessions.open("operator", "10.0.0.1");
  for (let hour = 1; hour < sessionLifeMs / 3_600_000; hour++) {
    clock.ms += 3_600_000;
    expect([hour, (await sessions.find(token))?.role]).toEqual([hour, "operator"]);
  }
  clock.ms += 3_600_000;
  expect(await sessions.find(token)).toBeNull();
});

test("one that was signed out stays so, also when a request of it was under way", async () => {
  const { sessions, clock, store } = world();
  const { token } = await sessions.open("operator", "10.0.0.1");
  clock.ms += 120_000;
  const set = store.set.bind(store);
  // Between reading the session and noting that it was seen, it is signed out.
  store.set = async (input) => {
    store.set = set;
    await sessions.end(token);
    return set(input);
  };
  await sessions.find(token);
  expect(await sessions.find(token)).toBeNull();
  await sessions.end(token);
});

test("every node with the same password knows it, a node with another does not", async () => {
  const { sessions, nodeOf } = world();
  const { token } = await sessions.open("operator", "10.0.0.1");
  const same = new Passwords({ password: "open sesame" }, async () => null);
  expect(await nodeOf(same).find(token)).toMatchObject({ role: "operator" });
  const changed = new Passwords({ password: "changed" }, async () => null);
  expect(await nodeOf(changed).find(token)).toBeNull();
  // A viewer's password that became the operators' does not make viewers operators.
  const swapped = new Passwords({ password: "look only", viewerPassword: "open sesame" }, async () => null);
  expect(await nodeOf(swapped).find(token)).toBeNull();
});

test("there are a hundred of a role at most: ended ones go first, then who was seen least recently", async () => {
  const { sessions, clock, listed } = world();
  const first = await sessions.open("operator", "10.0.0.1");
  const second = await sessions.open("operator", "10.0.0.1");
  clock.ms += 120_000;
  await sessions.find(first.token);
  for (let i = 2; i < sessionsMax + 1; i++) await sessions.open("operator", "10.0.0.1");
  expect(await listed()).toHaveLength(sessionsMax);
  expect([await sessions.find(first.token), await sessions.find(second.token)].map((each) => each !== null)).toEqual([
    true,
    false,
  ]);
  clock.ms += sessionIdleMs;
  await sessions.open("operator", "10.0.0.1");
  expect(await listed()).toHaveLength(1);
});

test("however many sessions of viewers are opened, no operator's ends for them, nor the other way round", async () => {
  const { sessions, clock } = world();
  const operator = await sessions.open("operator", "10.0.0.1");
  const viewer = await sessions.open("viewer", "10.0.0.1");
  clock.ms += 60_000;
  for (let i = 0; i < sessionsMax - 1; i++) await sessions.open("viewer", "10.0.0.1");
  for (let i = 0; i < sessionsMax - 1; i++) await sessions.open("operator", "10.0.0.1");
  expect((await sessions.find(operator.token))?.role).toBe("operator");
  expect((await sessions.find(viewer.token))?.role).toBe("viewer");
});

test("whoever opens many sessions from one address ends their own, not those of others", async () => {
  const { sessions, clock, store, listed } = world();
  const others = [];
  for (let i = 0; i < 10; i++) others.push(await sessions.open("viewer", `10.0.1.${i}`));
  // One that was opened before addresses were kept.
  const [setting] = await store.reads.settings("default", "session");
  const { from, ...before } = JSON.parse(setting!.value);
  await store.set({ ...setting!, env: "default", value: JSON.stringify(before), over: null, reason: null });
  clock.ms += 60_000;
  for (let i = 0; i < 3 * sessionsMax; i++) await sessions.open("viewer", "10.0.0.9");
  expect(await listed()).toHaveLength(sessionsMax);
  for (const { token } of others) expect(await sessions.find(token)).not.toBeNull();
});
