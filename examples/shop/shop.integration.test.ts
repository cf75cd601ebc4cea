// The acts of the story, through the functions that play them: one world, whose shop is killed three times.
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect, test } from "vitest";
import { doubleClicks } from "./act-1-double-clicks.mjs";
import { crash } from "./act-2-crash.mjs";
import { redelivered } from "./act-3-redelivered.mjs";
import { forgotten } from "./act-4-forgotten.mjs";
import { toldOnce } from "./act-5-told-once.mjs";
import { inAll } from "./counts.mjs";
import { openWorld } from "./world.mjs";

interface Line {
  readonly what: string;
  readonly expected: number;
  readonly seen: number;
}

const folder = mkdtempSync(join(tmpdir(), "idem-shop-test-"));
let world: Awaited<ReturnType<typeof openWorld>>;
beforeAll(async () => {
  world = await openWorld(folder);
});
afterAll(async () => {
  await world?.close();
  rmSync(folder, { recursive: true, force: true });
});

const expectRight = (lines: readonly Line[]) =>
  expect(lines.map(({ what, seen }) => [what, seen])).toEqual(lines.map(({ what, expected }) => [what, expected]));

test("who presses Pay three times at once is charged once, and every click gets the same answer", async () => {
  const { lines, clicks } = await doubleClicks(world);
  expectRight(lines);
  expect(clicks).toBe(50);
});

test("a shop killed between a charge and its record charges once when the client asks again", async () => {
  const { lines, chargedAtTheKill, recordedAtTheKill } = await crash(world);
  expectRight(lines);
  expect({ chargedAtTheKill, recordedAtTheKill }).toEqual({ chargedAtTheKill: 5, recordedAtTheKill: 0 });
});

test("a webhook that is delivered three times, also across a kill, fulfils once; a forged one nothing", async () => {
  const { lines, deliveries } = await redelivered(world);
  expectRight(lines);
  expect(deliveries).toBe(75);
});

test("a charge whose key Stripe forgot is looked up or parked, and never made again", async () => {
  const { lines, parked } = await forgotten(world);
  expectRight(lines);
  expect(parked.reason).toContain("may have forgotten its key");
});

test("an order's event leaves the outbox once and its receipt goes out once, also when the shop dies while mailing", async () => {
  expectRight((await toldOnce(world)).lines);
});

test("in the end there are as many charges, shipments and receipts as orders", async () => {
  expect(world.orders()).toHaveLength(30);
  expectRight(await inAll(world));
});
