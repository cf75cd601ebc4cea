// A channel keeps what was left in it for a while, each message at a place of its own.
import { describe, expect, test } from "vitest";
import { channelBounds } from "../channels.ts";
import { env, everyWrite, type OpenStore, openWorld, type World } from "./world.ts";

const channel = "order:7";
const room = { limit: 1_000, bytes: 64 * 1024 * 1024 };

const message = (id: string, body = `body of ${id}`) => ({ id, topic: "status", body });

const said = (world: World) => ({
  say: (...ids: string[]) => world.store.publish({ env, channel, messages: ids.map((id) => message(id)) }),
  row: async () => (await world.store.reads.channels(env, [channel, "nobody's"]))[0],
  read: async (after = 0, given: Partial<typeof room> = {}) => {
    const page = await world.store.reads.messages(env, channel, after, { ...room, ...given });
    return page!.messages;
  },
});

const idsOf = (messages: readonly { body: string }[]) => messages.map(({ body }) => body.replace("body of ", ""));

export function channelsSuite(open: OpenStore): void {
  describe("a channel", () => {
    test("is read from any place on, in the order of places, which follow each other", async () => {
      const { say, row, read } = said(await openWorld(open));
      expect(await row()).toBeUndefined();
      const { place } = await say("a", "b");
      expect((await say("c")).place).toBe(place + 2);
      expect(await row()).toEqual({ channel, base: place - 1, floor: place - 1, last: place + 2 });
      expect(await read()).toEqual([
        { place, topic: "status", body: "body of a" },
        { place: place + 1, topic: "status", body: "body of b" },
        { place: place + 2, topic: "status", body: "body of c" },
      ]);
      expect(idsOf(await read(place))).toEqual(["b", "c"]);
      expect(await read(place + 2)).toEqual([]);
    });

    test("is read in pages of so many messages and bytes, of one at least", async () => {
      const { say, read } = said(await openWorld(open));
      const { place } = await say("a", "b", "c", "d");
      expect(idsOf(await read(0, { limit: 3 }))).toEqual(["a", "b", "c"]);
      expect(idsOf(await read(0, { bytes: 1 }))).toEqual(["a"]);
      expect(idsOf(await read(place, { bytes: 2 * (9 + 6) }))).toEqual(["b", "c"]);
    });

    test("gives each of many that come at once a place of its own, and leaves none out", async () => {
      const { say, read } = said(await openWorld(open));
      const ids = Array.from({ length: 20 }, (_, i) => `m${i}`);
      await Promise.all(ids.map((id) => say(id)));
      const messages = await read();
      expect(idsOf(messages).sort()).toEqual([...ids].sort());
      const { place } = messages[0]!;
      expect(messages.map((each) => each.place)).toEqual(ids.map((_, i) => place + i));
    });

    test("has its own places in every environment, whatever its name", async () => {
      const world = await openWorld(open);
      const long = `é${"x".repeat(3_000)}`;
      const { place } = await world.store.publish({ env, channel: long, messages: [message("a")] });
      await world.store.publish({ env: "other", channel: long, messages: [{ id: "b", topic: null, body: "\u0000" }] });
      expect(await world.store.reads.channels("other", [long])).toMatchObject([{ channel: long, last: place }]);
      expect((await world.store.reads.messages("other", long, 0, room))!.messages).toEqual([
        { place, topic: null, body: "\u0000" },
      ]);
      expect(await world.store.reads.messages(env, "nobody's", 0, room)).toBeNull();
    });

    test("keeps so many messages and so many bytes, the newest; up to which place they are gone stands with it", async () => {
      const { store } = await openWorld(open);
      const many = Array.from({ length: channelBounds.messagesMax }, (_, i) => message(`m${i}`));
      const { place } = await store.publish({ env, channel, messages: many });
      await store.publish({ env, channel, messages: [message("x"), message("y")] });
      const [row] = await store.reads.channels(env, [channel]);
      expect([row!.floor, row!.last]).toEqual([place + 1, place + channelBounds.messagesMax + 1]);
      const page = await store.reads.messages(env, channel, 0, { ...room, limit: 1 });
      expect(page!.messages[0]!.place).toBe(place + 2);
      const third = "x".repeat(channelBounds.bytesMax / 3);
      for (const id of ["1", "2", "3"]) await store.publish({ env, channel, messages: [message(id, third)] });
      const left = await store.reads.messages(env, channel, 0, room);
      expect(left!.messages.map(({ body }) => body.length)).toEqual([third.length, third.length]);
      expect(left!.floor).toBe(left!.last - 2);
    });

    test("keeps a message for an hour, and its place until nobody can come back with an older one", async () => {
      const world = await openWorld(open);
      const { say, row, read } = said(world);
      const { place } = await say("a");
      world.clock.advance(channelBounds.keptMs - 1_000);
      await say("b");
      await world.store.sweep({ max: 100, repair: false });
      expect(idsOf(await read())).toEqual(["a", "b"]);
      world.clock.advance(2_000);
      await world.store.sweep({ max: 100, repair: false });
      expect(idsOf(await read())).toEqual(["b"]);
      expect(await row()).toMatchObject({ base: place - 1, floor: place, last: place + 1 });
      world.clock.advance(channelBounds.keptMs);
      await world.store.sweep({ max: 100, repair: false });
      expect(await row()).toMatchObject({ floor: place + 1, last: place + 1 });
      world.clock.advance(channelBounds.rowKeptMs);
      await world.store.sweep({ max: 100, repair: false });
      expect(await row()).toBeUndefined();
      expect((await say("c")).place).toBeGreaterThan(place + 1);
    });

    everyWrite(open, "publish", async (world) => () => said(world).say("a", "b"));

    test("publish: called again, it leaves nothing twice", async () => {
      const { say, read } = said(await openWorld(open));
      await Promise.all([say("a", "b"), say("a", "b")]);
      await say("c");
      await say("a", "b");
      expect(idsOf(await read())).toEqual(["a", "b", "c"]);
    });
  });
}
