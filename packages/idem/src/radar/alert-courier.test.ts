import { describe, expect, test } from "vitest";
import { readKeyring } from "../model/seal.ts";
import { ManualPlatform } from "../platform/manual-platform.ts";
import { sealStore } from "../sdk/sealed-store.ts";
import { MemoryStore } from "../store/memory/store.ts";
import { AlertCourier, courierLimits, type SendAnswer } from "./alert-courier.ts";
import { deliveriesOf } from "./alert-deliveries.ts";
import type { ChannelMessage } from "./channel-message.ts";
import { channelKind, makeChannel, shownChannel, withoutSecrets } from "./channels.ts";

const env = "default";
const dayMs = 86_400_000;
const facts = JSON.stringify({ of: "run" });
const fresh = { secret: "whsec_c2VjcmV0c2VjcmV0c2VjcmV0c2VjcmV0", now: 0 };
const slackUrl = "https://hooks.slack.com/services/T000/B000/XXXXSECRET";

function world() {
  const platform = new ManualPlatform();
  const store = new MemoryStore(platform);
  const sent: { channel: string; message: ChannelMessage }[] = [];
  const warned: string[] = [];
  let ids = 0;
  let answer: SendAnswer = { kind: "sent" };
  const courier = () =>
    new AlertCourier({
      store,
      env,
      now: () => platform.wallMs(),
      newId: () => `node-${++ids}`,
      nameOf: (fn) => fn,
      send: async ({ name }, message) => {
        sent.push({ channel: name, message });
        return answer;
      },
      warn: (line) => void warned.push(line),
    });
  const addChannel = (name: string, over = {}) => {
    const channel = makeChannel(name, { kind: "slack", url: slackUrl, ...over }, null, {
      ...fresh,
      now: platform.wallMs(),
    });
    return store.set({ env, kind: channelKind, name, value: JSON.stringify(channel), over: null, reason: "test" });
  };
  const raise = (id: string, laterId = `${id}-later`) => {
    const pairs = [{ entity: "7", firstId: "r1", laterId, at: platform.wallMs() }];
    const alert = { id, kind: "doubled-runs", fn: "bill", about: id, subject: "event.data.orderId", facts, pairs };
    return store.raise({ env, alerts: [alert] });
  };
  const deliveries = async (id: string) => deliveriesOf(store.reads, env, (await store.reads.alert(env, id))!);
  const pass = (ms: number) => platform.advance(ms, async () => {});
  const failing = (why: string | null) => {
    answer = why === null ? { kind: "sent" } : { kind: "failed", why };
  };
  return { platform, store, sent, warned, courier, addChannel, raise, deliveries, pass, failing };
}

describe("an alert", () => {
  test("is told to every channel once, however many nodes look, and the alert says when", async () => {
    const w = world();
    await w.addChannel("ops");
    await w.addChannel("finance");
    await w.addChannel("quiet", { muted: true });
    await w.raise("a1");
    const nodes = [w.courier(), w.courier(), w.courier()];
    for (let look = 0; look < 3; look++) await Promise.all(nodes.map((node) => node.look()));
    await w.courier().look();
    expect(w.sent.map(({ channel }) => channel).sort()).toEqual(["finance", "ops"]);
    expect(w.sent[0]!.message).toMatchObject({ type: "radar.alert", data: { alertId: "a1", kind: "doubled-runs" } });
    expect(await w.deliveries("a1")).toMatchObject([
      { channel: "finance", state: "sent", tries: 1 },
      { channel: "ops", state: "sent", words: expect.stringMatching(/^Sent to Slack "ops" at 20/) },
    ]);
  });

  test("that a channel does not take is tried again later and later, then given up and told", async () => {
    const w = world();
    await w.addChannel("ops");
    await w.raise("a1");
    w.failing("it answered 500");
    const node = w.courier();
    await node.look();
    await node.look();
    expect(w.sent).toHaveLength(1);
    expect(await w.deliveries("a1")).toMatchObject([{ state: "trying", tries: 1, why: "it answered 500" }]);
    for (const [i, ms] of courierLimits.backoffMs.entries()) {
      await w.pass(ms);
      await node.look();
      expect(w.sent).toHaveLength(i + 2);
    }
    expect(await w.deliveries("a1")).toMatchObject([{ state: "failed", tries: 5, why: "it answered 500" }]);
    expect(w.warned).toEqual([expect.stringContaining('Slack "ops" could not be told in 5 tries: it answered 500')]);
    await w.pass(dayMs);
    await Promise.all([node.look(), w.courier().look()]);
    expect(w.sent).toHaveLength(5);
    // Under one id: a receiver that took it and failed to say so knows it again.
    expect(new Set(w.sent.map(({ message }) => message.id)).size).toBe(1);
  });

  test("is carried on by another node when the one that tried is lost, and at once when it stopped", async () => {
    const w = world();
    await w.addChannel("ops");
    await w.raise("a1");
    w.failing("it answered 503");
    const lost = w.courier();
    await lost.look();
    const other = w.courier();
    await w.pass(courierLimits.backoffMs[0]!);
    await other.look();
    expect(w.sent).toHaveLength(1);
    await w.pass(courierLimits.leaseMs);
    await other.look();
    expect(w.sent).toHaveLength(2);
    expect(await w.deliveries("a1")).toMatchObject([{ tries: 2 }]);
    await other.handBack();
    w.failing(null);
    await w.pass(courierLimits.backoffMs[1]!);
    await w.courier().look();
    expect(await w.deliveries("a1")).toMatchObject([{ state: "sent", tries: 3 }]);
  });

  test("of before the channel is not told, unless it goes on; muted for a time and open again, it is told again", async () => {
    const w = world();
    await w.raise("a1");
    await w.pass(1_000);
    await w.addChannel("ops");
    const node = w.courier();
    expect(await node.look()).toBe(0);
    await w.raise("a1", "again");
    expect(await node.look()).toBe(1);
    const until = w.platform.wallMs() + 1_000;
    await w.store.judge({ env, id: "a1", verdict: "mute", until, by: "Ada", note: "Monday" });
    await w.raise("a1", "muted");
    expect(await node.look()).toBe(0);
    await w.pass(2_000);
    await w.raise("a1", "after");
    expect(await node.look()).toBe(1);
    expect(await node.look()).toBe(0);
  });
});

test("while something is new, every channel gets one report a day, and none once it is not", async () => {
  const w = world();
  await w.addChannel("ops");
  const since = w.platform.wallMs();
  const source = { config: { provider: "stripe" }, secrets: [], createdAt: since };
  const setting = { env, kind: "webhook-source", name: "stripe", over: null, reason: "test" };
  await w.store.set({ ...setting, value: JSON.stringify(source) });
  await w.store.follow({ env, position: JSON.stringify({ after: "", since: { bill: since } }), over: 0 });
  const nodes = [w.courier(), w.courier()];
  for (let hour = 0; hour < 24 * 10; hour++) {
    await Promise.all(nodes.map((node) => node.look()));
    await w.pass(3_600_000);
  }
  const days = w.sent.map(({ message }) => (message.data as { day: string }).day);
  expect(new Set(days).size).toBe(days.length);
  expect(days.length).toBeGreaterThanOrEqual(6);
  expect(days.length).toBeLessThanOrEqual(7);
  expect(w.sent[0]!.message.lines.join("\n")).toContain('source "stripe", day ');
  expect(w.sent[0]!.message.lines.join("\n")).toContain('function "bill", day ');
});

test("a channel this process has no key to is named once with the reason; others are told, and whoever has the key tells it", async () => {
  const w = world();
  const keyring = readKeyring("11".repeat(32));
  const sealing = {
    keyring,
    isShared: true,
    isClearAllowed: false,
    randomBytes: (count: number) => w.platform.randomBytes(count),
  };
  const raw = { set: w.store.set.bind(w.store), settings: w.store.reads.settings.bind(w.store.reads) };
  const as = (ring: typeof keyring) => {
    Object.assign(w.store.reads, { settings: raw.settings });
    sealStore(Object.assign(w.store, { set: raw.set }), { ...sealing, keyring: ring });
  };
  as(keyring);
  await w.addChannel("ops");
  as(readKeyring("22".repeat(32)));
  await w.addChannel("finance");
  await w.raise("a1");
  const node = w.courier();
  for (let look = 0; look < 3; look++) await node.look();
  expect(w.sent.map(({ channel }) => channel)).toEqual(["finance"]);
  expect(w.warned).toEqual([
    expect.stringMatching(/^idem: channel "ops" .* with the key [0-9a-f]{8}, .*SECRET_KEY_MISSING/),
  ]);
  as(readKeyring(`${"22".repeat(32)},${"11".repeat(32)}`));
  await w.courier().look();
  expect(w.sent.map(({ channel }) => channel)).toEqual(["finance", "ops"]);
  as(null);
  expect(await w.deliveries("a1")).toMatchObject([
    { channel: "finance", state: "sent" },
    { channel: "ops", state: "sent", words: expect.stringMatching(/^Sent to channel "ops" at 20/) },
  ]);
});

test("what is shown of a channel, and of a failure, has nothing secret", () => {
  const slack = makeChannel("ops", { kind: "slack", url: slackUrl }, null, fresh);
  const hook = makeChannel("hook", { kind: "webhook", url: "https://example.com/in?token=abcdef" }, null, fresh);
  const url = "smtps://ada:p%40ssword@mail.example.com";
  const mail = makeChannel("mail", { kind: "email", url, from: "a@example.com", to: ["b@example.com"] }, null, fresh);
  const shown = JSON.stringify([slack, hook, mail].map(shownChannel));
  for (const secret of ["XXXXSECRET", "T000", "abcdef", fresh.secret, "ssword", "ada:"])
    expect(shown).not.toContain(secret);
  expect(withoutSecrets(`${url} said no to p@ssword`, mail)).toBe("… said no to …");
  expect(withoutSecrets(`could not reach ${slackUrl}`, slack)).not.toContain("SECRET");
});

test.each([
  ["kind", { kind: "pager" }],
  ["url", { kind: "slack" }],
  ["url", { kind: "slack", url: "ftp://example.com" }],
  ["url", { kind: "webhook", url: "https://ada:secret@example.com" }],
  ["url", { kind: "email", url: "https://example.com", from: "a@b.c", to: ["a@b.c"] }],
  ["to", { kind: "email", url: "smtp://example.com", from: "a@b.c", to: [] }],
  ["to", { kind: "email", url: "smtp://example.com", from: "a@b.c", to: ["a@b.c\r\nBcc: x@y.z"] }],
])("a channel with a wrong %s is refused: %j", (option, input) => {
  expect(() => makeChannel("ops", input, null, fresh)).toThrow(`Option "${option}"`);
});
