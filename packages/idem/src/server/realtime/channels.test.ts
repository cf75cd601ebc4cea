import { expect, test } from "vitest";
import { UlidSource } from "../../model/ulid.ts";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import type { ChannelTopic } from "../../protocol/realtime-frames.ts";
import { channelBounds } from "../../store/channels.ts";
import type { StoreHint } from "../../store/sharing.ts";
import { sharedStore } from "../../testing/shared-store.suite.ts";
import { FollowChannels } from "../channels/follow-channels.ts";
import { PublishQueue } from "../channels/publish-queue.ts";
import { Channels, type ChannelsOptions, type Line } from "./channels.ts";

const topic = { channel: "chat", topic: "words" };

/** A subscriber that reads when told. */
function reader() {
  const frames: any[] = [];
  const unread: (() => void)[] = [];
  const state = { closed: null as string | null, answers: true, place: "" };
  const line: Line = {
    began: (place) => {
      state.place = place;
    },
    frame: (bytes, place, sent) => {
      frames.push(JSON.parse(bytes.toString()));
      state.place = place;
      unread.push(sent);
    },
    ping: () => state.answers,
    close: async (reason) => {
      state.closed = reason;
    },
  };
  const read = () => {
    for (const sent of unread.splice(0)) sent();
  };
  /** Heard so far, gaps included. */
  const heard = () => frames.map(({ kind, data }) => (kind === "gap" ? "gap" : data));
  return { line, frames, heard, read, state };
}

function nodes(limits: Partial<NonNullable<ChannelsOptions["limits"]>> = {}, loses?: (hint: StoreHint) => boolean) {
  const platform = new ManualPlatform();
  const shared = sharedStore(platform, loses === undefined ? {} : { loses });
  const ids = new UlidSource(
    () => platform.wallMs(),
    (count) => platform.randomBytes(count),
  );
  const node = () => {
    const made = shared.handle();
    const { store } = made;
    const follow = new FollowChannels({ store, platform, report: () => {} });
    const queue = new PublishQueue({ store, ids, onPublished: (...said) => follow.published(...said) });
    const channels = new Channels({
      platform,
      follow,
      queue,
      limits: { subscribersMax: 10, waitingBytesMax: 200, waitingBytesTotalMax: 1_000, pingMs: 60_000, ...limits },
    });
    const subscribe = async (line: Line, from: string | null = null, topics: readonly ChannelTopic[] = [topic]) =>
      (await channels.prepare("default", topics, from, "a token"))(line);
    const say = (data: unknown, to: ChannelTopic = topic) =>
      channels.publish("default", [{ ...to, frame: JSON.stringify({ kind: "data", data }) }]);
    return { channels, subscribe, say, store, handle: made };
  };
  const settle = async () => {
    for (let i = 0; i < 50; i++) await Promise.resolve();
  };
  return { platform, node, settle, pass: (ms: number) => platform.advance(ms, settle) };
}

test("a message reaches the subscribers of every node, each once and in the order it was published in", async () => {
  const { node, settle } = nodes({ waitingBytesMax: 10_000, waitingBytesTotalMax: 100_000 });
  const all = [node(), node(), node()];
  const readers = [];
  for (const { subscribe } of all) {
    const made = reader();
    await subscribe(made.line);
    readers.push(made);
  }
  await Promise.all(Array.from({ length: 30 }, (_, n) => all[n % 3]!.say(n)));
  await settle();
  const [first] = readers;
  expect([...first!.heard()].sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, n) => n));
  for (const { heard } of readers) expect(heard()).toEqual(first!.heard());
});

test("a subscriber that begins with the first message hears those of before, and of a gap if some are gone", async () => {
  const { node, settle } = nodes({ waitingBytesMax: 1_000_000, waitingBytesTotalMax: 1_000_000 });
  const { channels, say } = node();
  const follow = async () => {
    const made = reader();
    (await channels.prepare("default", [topic], null, "a token", "first"))(made.line);
    return made;
  };
  const before = await follow();
  await say(1);
  const after = await follow();
  await say(2);
  await settle();
  expect([before.heard(), after.heard()]).toEqual([
    [1, 2],
    [1, 2],
  ]);
  for (let n = 3; n <= channelBounds.messagesMax + 1; n++) await say(n);
  const late = await follow();
  await settle();
  expect(late.heard().slice(0, 2)).toEqual(["gap", expect.any(Number)]);
  expect(late.heard().at(-1)).toBe(channelBounds.messagesMax + 1);
});

test("a message whose hint is lost, or that came while the way to the store was cut, is found within a second", async () => {
  const { node, pass } = nodes({}, () => true);
  const [one, other] = [node(), node()];
  const listening = reader();
  await other.subscribe(listening.line);
  await one.say(1);
  await pass(1_000);
  expect(listening.heard()).toEqual([1]);
  other.handle.isCut = true;
  await one.say(2);
  await pass(3_000);
  other.handle.isCut = false;
  await one.say(3);
  await pass(1_000);
  expect(listening.heard()).toEqual([1, 2, 3]);
});

test("a subscriber that does not read is left where it is; the others hear everything, and so does it once it reads", async () => {
  const { node, settle } = nodes();
  const { subscribe, say } = node();
  const [slow, quick] = [reader(), reader()];
  await subscribe(slow.line);
  await subscribe(quick.line);
  const counts = [];
  for (const n of [1, 2, 3, 4, 5]) {
    counts.push(await say(`${n}${"x".repeat(50)}`));
    await settle();
    quick.read();
  }
  const first = (data: string) => data[0];
  expect(counts).toEqual([2, 2, 2, 2, 2]);
  expect(slow.heard().map(first)).toEqual(["1"]);
  expect(quick.heard().map(first)).toEqual(["1", "2", "3", "4", "5"]);
  for (let i = 0; i < 5; i++) {
    slow.read();
    await settle();
  }
  expect([slow.heard().map(first), slow.state.closed]).toEqual([["1", "2", "3", "4", "5"], null]);
});

test("a subscriber that is overrun is told of the gap, once, and goes on behind it", async () => {
  const { node, settle } = nodes();
  const { subscribe, say } = node();
  const slow = reader();
  await subscribe(slow.line);
  for (const n of [1, 2, 3]) await say(`${n}${"x".repeat(80)}`);
  await settle();
  await Promise.all(Array.from({ length: channelBounds.messagesMax }, (_, n) => say(n)));
  for (let i = 0; i < 2_000; i++) {
    slow.read();
    await settle();
  }
  const [before, gap, ...after] = slow.frames;
  expect([before.data[0], gap.kind]).toEqual(["1", "gap"]);
  expect(gap).toMatchObject({ channel: "chat", data: { after: Number(before.place), up_to: Number(gap.place) } });
  // Each is there that is still kept, from the next place on.
  expect(after.map(({ data }) => data)).toEqual(Array.from({ length: channelBounds.messagesMax }, (_, n) => n));
  expect(Number(after[0].place)).toBe(Number(gap.place) + 1);
});

test("whoever comes back with its place, to any node, hears what it missed and nothing twice", async () => {
  const { node, settle, pass } = nodes({ waitingBytesMax: 10_000, waitingBytesTotalMax: 100_000 });
  const [one, other] = [node(), node()];
  const before = reader();
  const subscription = await one.subscribe(before.line);
  await one.say(1);
  await settle();
  subscription.stop();
  subscription.stop();
  await one.say(2);
  await other.say(3);
  const after = reader();
  await other.subscribe(after.line, before.state.place);
  await settle();
  await one.say(4);
  await settle();
  expect([before.heard(), after.heard()]).toEqual([[1], [2, 3, 4]]);
  // One that comes back when it is gone hears of the gap.
  await pass(channelBounds.keptMs + 1_000);
  await one.store.sweep({ max: 1_000, repair: false });
  const late = reader();
  await one.subscribe(late.line, before.state.place);
  await one.say(5);
  await settle();
  expect(late.heard()).toEqual(["gap", 5]);
  await expect(one.subscribe(reader().line, "yesterday")).rejects.toMatchObject({ code: "REQUEST_INVALID" });
});

test("a node that could not reach the store until everything was gone tells its subscribers of the gap", async () => {
  const { node, pass } = nodes();
  const [one, other] = [node(), node()];
  const listening = reader();
  await one.say(0);
  await other.subscribe(listening.line);
  other.handle.isCut = true;
  await one.say(1);
  await pass(channelBounds.keptMs + 1_000);
  await one.store.sweep({ max: 1_000, repair: false });
  other.handle.isCut = false;
  await pass(1_000);
  expect(listening.heard()).toEqual(["gap"]);
  listening.read();
  await one.say(2);
  await pass(1_000);
  expect(listening.heard()).toEqual(["gap", 2]);
});

test("a place of several channels is good for all of them", async () => {
  const { node, settle } = nodes({ waitingBytesMax: 10_000, waitingBytesTotalMax: 100_000 });
  const { subscribe, say } = node();
  const other = { channel: "news", topic: "all" };
  const listening = reader();
  const { stop } = await subscribe(listening.line, null, [topic, other]);
  await say("a");
  await say("b", other);
  await say("unheard", { channel: "news", topic: "another" });
  await settle();
  stop();
  await say("c", other);
  await say("d");
  const again = reader();
  await subscribe(again.line, listening.state.place, [topic, other]);
  await settle();
  expect([listening.heard(), again.heard().sort()]).toEqual([
    ["a", "b"],
    ["c", "d"],
  ]);
});

test("what waits for all subscribers together is bounded", async () => {
  const { node, settle, pass } = nodes({ waitingBytesTotalMax: 250 });
  const { subscribe, say } = node();
  const readers = [reader(), reader(), reader()];
  for (const { line } of readers) await subscribe(line);
  await say("x".repeat(60));
  await settle();
  expect(readers.map(({ frames }) => frames.length)).toEqual([1, 1, 0]);
  for (const { read } of readers) read();
  await pass(1_000);
  expect(readers.map(({ frames }) => frames.length)).toEqual([1, 1, 1]);
});

test("there is room for so many subscribers and no more, until one leaves", async () => {
  const { node } = nodes({ subscribersMax: 2 });
  const { subscribe, channels } = node();
  const { stop } = await subscribe(reader().line);
  await subscribe(reader().line);
  await expect(subscribe(reader().line)).rejects.toThrow(/SERVER_BUSY/);
  stop();
  stop();
  await subscribe(reader().line);
  expect(channels.count).toBe(2);
});

test("one token has a part of the places, and one environment leaves some to others", async () => {
  const { node } = nodes({ subscribersMax: 10, subscribersPerTokenMax: 3, subscribersPerEnvironmentMax: 8 });
  const { channels } = node();
  const listen = async (env: string, token: string) =>
    (await channels.prepare(env, [topic], null, token))(reader().line);
  const all = (env: string, token: string, count: number) =>
    Promise.allSettled(Array.from({ length: count }, () => listen(env, token)));
  const counted = (of: readonly { readonly status: string }[]) =>
    of.filter(({ status }) => status === "fulfilled").length;
  const first = await all("default", "leaked", 20);
  expect(counted(first)).toBe(3);
  expect(counted(await all("default", "another", 2))).toBe(2);
  for (let n = 0; n < 20; n++) await all("default", `made ${n}`, 1);
  expect(channels.count).toBe(8);
  await expect(listen("default", "one more")).rejects.toMatchObject({ code: "SERVER_BUSY" });
  expect(counted(await all("staging", "its own", 2))).toBe(2);
  // A place is free again once its subscriber leaves.
  const [left] = first.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
  left!.stop();
  left!.stop();
  await listen("default", "leaked").catch(() => null);
  expect(channels.count).toBe(10);
});

test("a subscriber that answers no ping is dropped", async () => {
  const { node, pass } = nodes({ pingMs: 1_000 });
  const { subscribe } = node();
  const [dead, alive] = [reader(), reader()];
  await subscribe(dead.line);
  await subscribe(alive.line);
  dead.state.answers = false;
  await pass(1_500);
  expect([dead.state.closed, alive.state.closed]).toEqual(["the last ping was not answered", null]);
});
