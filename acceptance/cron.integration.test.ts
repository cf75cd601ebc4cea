// Schedules of an app's functions (docs/reference/wire.md#system-events), under a server whose clock the test sets.
import { expect, onTestFinished, test } from "vitest";
import type { HostedApp } from "./app/messages.ts";
import { World } from "./world.ts";

const app: HostedApp = { id: "shop", adapter: "node", functions: ["ticks"] };
const minuteMs = 60_000;

test("each minute is one run, also when the server is killed as it begins", async () => {
  // At the beginning of a minute: none may end by itself.
  const clockAheadMs = minuteMs - (Date.now() % minuteMs);
  const world = await World.open({ mode: "dev", apps: [app], clockAheadMs });
  onTestFinished(() => world.close());
  /** What was said by run; a step that the kill cut off says it again. */
  const said = () =>
    new Map(world.ledger.flatMap((line) => (line.kind === "note" ? [[line.run, line.text] as const] : [])));
  /** To the next minute, and until the app hears of it. */
  const pass = async () => {
    const { serverTime } = world;
    const instant = serverTime - (serverTime % minuteMs) + minuteMs;
    world.advanceClock(instant - serverTime);
    // A server that has nothing to do asks its store for the time every few seconds only.
    await world.rest.send("shop/look-at-your-clock", [{}]);
    const expected = `inngest/scheduled.timer * * * * * ${new Date(instant).toISOString()}`;
    await world.untilLedger(() => [...said().values()].includes(expected));
    return expected;
  };
  const first = await pass();
  await world.killServer();
  await world.startServer();
  const second = await pass();
  const ended = await world.rest.until("/api/runs?function=shop-ticks", ({ runs }) =>
    runs.every(({ state }: { state: string }) => state === "completed") ? (runs as readonly { id: string }[]) : null,
  );
  expect([...said()].map(([, text]) => text)).toEqual([first, second]);
  expect(ended.map(({ id }) => id).toSorted()).toEqual([...said().keys()].toSorted());
});
