import { expect, test } from "vitest";
import { ManualPlatform } from "../../platform/manual-platform.ts";
import { Channels, type Line } from "./channels.ts";

const topic = { channel: "chat", topic: "words" };

/** A subscriber that reads when told. */
function reader() {
  const heard: string[] = [];
  const unread: (() => void)[] = [];
  const state = { closed: null as string | null, answers: true };
  const line: Line = {
    frame: (bytes, sent) => {
      heard.push(bytes.toString());
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
  return { line, heard, read, state };
}

function channels(limits: Partial<NonNullable<ConstructorParameters<typeof Channels>[1]>> = {}) {
  const platform = new ManualPlatform();
  const made = new Channels(platform, {
    subscribersMax: 10,
    waitingBytesMax: 100,
    waitingBytesTotalMax: 1_000,
    pingMs: 1_000,
    ...limits,
  });
  return { platform, channels: made };
}

test("a subscriber that does not read is dropped with a reason; the others hear everything", () => {
  const { channels: all } = channels();
  const slow = reader();
  const quick = reader();
  all.subscribe("default", [topic], slow.line);
  all.subscribe("default", [topic], quick.line);
  const counts = Array.from({ length: 5 }, () => {
    const count = all.publish("default", topic, "x".repeat(40));
    quick.read();
    return count;
  });
  expect(counts).toEqual([2, 2, 1, 1, 1]);
  expect(slow.state.closed).toContain("too slow: 80 bytes");
  expect(slow.heard).toHaveLength(2);
  expect(quick.heard).toHaveLength(5);
  expect(all.count).toBe(1);
});

test("what waits for all subscribers together is bounded", () => {
  const { channels: all } = channels({ waitingBytesTotalMax: 150 });
  const readers = [reader(), reader(), reader()];
  for (const { line } of readers) all.subscribe("default", [topic], line);
  expect(all.publish("default", topic, "x".repeat(60))).toBe(2);
  expect(readers[2]!.state.closed).toContain("holds too much");
  for (const { read } of readers) read();
  expect(all.publish("default", topic, "x".repeat(60))).toBe(2);
});

test("there is room for so many subscribers and no more, until one leaves", () => {
  const { channels: all } = channels({ subscribersMax: 2 });
  const leave = all.subscribe("default", [topic], reader().line);
  all.subscribe("default", [topic], reader().line);
  expect(() => all.subscribe("default", [topic], reader().line)).toThrow(/SERVER_BUSY/);
  leave();
  leave();
  all.subscribe("default", [topic], reader().line);
  expect(all.count).toBe(2);
});

test("a subscriber that answers no ping is dropped", async () => {
  const { channels: all, platform } = channels();
  const dead = reader();
  const alive = reader();
  all.subscribe("default", [topic], dead.line);
  all.subscribe("default", [topic], alive.line);
  dead.state.answers = false;
  await platform.advance(1_500, async () => {});
  expect([dead.state.closed, alive.state.closed]).toEqual(["the last ping was not answered", null]);
});
