import { expect, test } from "vitest";
import type { Event } from "../model/event.ts";
import { makeUlid } from "../model/ulid.ts";
import { NewEvents } from "./new-events.ts";

const start = 1_700_000_000_000;
let made = 0;
const eventAt = (ms: number): Event => {
  const id = makeUlid(start + ms, new Uint8Array(10).fill(++made % 256));
  return {
    id,
    callerId: null,
    name: "a/b",
    data: "{}",
    ts: 0,
    extra: null,
    receivedAt: 0,
    firstEventId: null,
    sourceRunId: null,
  };
};

/** A store whose events appear when they are put there. */
function feedOver(kind: "file" | "server", from = "") {
  const stored: Event[] = [];
  const rows = {
    eventsAfter: async (_: string, after: string, limit: number) =>
      stored
        .filter(({ id }) => id > after)
        .sort((a, b) => (a.id < b.id ? -1 : 1))
        .slice(0, limit),
  };
  const reading = { rows, env: "default", place: { kind } } as unknown as ConstructorParameters<typeof NewEvents>[0];
  const feed = new NewEvents(reading, from);
  const look = async () => {
    const shown: Event[] = [];
    for (;;) {
      const { events, isAll } = await feed.look();
      shown.push(...events);
      if (isAll) return shown;
    }
  };
  return { stored, look };
}

test("an event that a server shows only after a newer one is shown all the same, and each once", async () => {
  const { stored, look } = feedOver("server");
  const [early, late, newer, newest] = [0, 1_000, 2_000, 20_000].map(eventAt) as [Event, Event, Event, Event];
  stored.push(early, newer);
  expect(await look()).toEqual([early, newer]);
  stored.push(late);
  expect(await look()).toEqual([late]);
  stored.push(newest);
  expect(await look()).toEqual([newest]);
  expect(await look()).toEqual([]);
});

test("what came before the first look's event is not new", async () => {
  const [before, from, after] = [0, 100, 200].map(eventAt) as [Event, Event, Event];
  const { stored, look } = feedOver("server", from.id);
  stored.push(before, from, after);
  expect(await look()).toEqual([after]);
  expect(await look()).toEqual([]);
});

test.each(["file", "server"] as const)("more than a page of a %s comes page by page, each event once", async (kind) => {
  const { stored, look } = feedOver(kind);
  for (let i = 0; i < 1_000; i++) stored.push(eventAt(i * 20));
  expect((await look()).map(({ id }) => id)).toEqual(stored.map(({ id }) => id));
  stored.push(eventAt(1_000 * 20));
  expect(await look()).toEqual([stored.at(-1)]);
});
