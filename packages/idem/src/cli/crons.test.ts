import { expect, test } from "vitest";
import { storeWorld } from "./store-world.ts";

const hour = 3_600_000;

/** A store that was in use until 09:30 on 1 January 2026; nobody has it open any more. */
async function scheduled(options: { columns?: number } = {}) {
  const world = storeWorld(options);
  const { idem } = world;
  idem.createFunction({ id: "report" }, { cron: "TZ=Europe/Paris 0 9 * * *" }, async () => "ok");
  idem.createFunction({ id: "sweep" }, [{ cron: "*/30 * * * *" }, { event: "sweep/asked" }], async () => "ok");
  idem.createFunction({ id: "leap" }, { cron: "0 0 29 2 *" }, async () => "ok");
  await idem.start();
  await world.advance(9.5 * hour);
  await world.stop();
  return world;
}

test("crons lists schedules, the soonest first, with last and next ticks in UTC and in their zone", async () => {
  const { terminal } = await scheduled();
  const list = await terminal.json("crons");
  expect(list.map(({ id }: any) => id)).toEqual(["sweep", "report", "leap"]);
  expect(list[1]).toMatchObject({
    fn: "shop-report",
    app: "shop",
    cron: "TZ=Europe/Paris 0 9 * * *",
    zone: "Europe/Paris",
    lastTickAt: Date.UTC(2026, 0, 1, 8),
    undecided: 0,
    next: [
      { utc: "2026-01-02T08:00:00Z", local: "2026-01-02T09:00:00+01:00", at: Date.UTC(2026, 0, 2, 8) },
      { utc: "2026-01-03T08:00:00Z", local: "2026-01-03T09:00:00+01:00" },
      { utc: "2026-01-04T08:00:00Z", local: "2026-01-04T09:00:00+01:00" },
    ],
    missed: { kind: "last" },
    jitterMs: 0,
    pausedAt: null,
  });
  expect(list[2]).toMatchObject({ lastTickAt: null, decidedTo: Date.UTC(2026, 0, 1), zone: "UTC" });
});

test("as a table, a schedule has a line for each of its next ticks", async () => {
  const { terminal } = await scheduled();
  expect(await terminal.run("crons", "--function", "report", "--next", "2")).toBe(0);
  const lines = terminal.written.out.trimEnd().split("\n");
  expect(lines).toHaveLength(3);
  expect(lines[0]).toMatch(/^FUNCTION +SCHEDULE +ZONE +LAST TICK +NEXT \(UTC\) +LOCAL +MISSED/);
  expect(lines[1]).toMatch(
    /^report +0 9 \* \* \* +Europe\/Paris +2026-01-01T08:00:00.000Z \(1 h ago\) +2026-01-02T08:00:00Z +2026-01-02 09:00 \+01:00 +last$/,
  );
  expect(lines[2]).toMatch(/^ +2026-01-03T08:00:00Z +2026-01-03 09:00 \+01:00$/);
});

test("ticks that came while nobody was there are counted, and what is left out is said", async () => {
  const { terminal, platform } = await scheduled();
  platform.clock.advance(5 * hour);
  expect(await terminal.json("crons", "--function", "sweep")).toMatchObject([{ undecided: 10 }]);
  expect(await terminal.run("crons", "--limit", "1")).toBe(0);
  expect(terminal.written.out).toContain("10 undecided");
  expect(terminal.written.err).toContain("2 more");
});

test("a store without schedules says so", async () => {
  const world = storeWorld();
  world.idem.createFunction({ id: "fn" }, { event: "a/b" }, async () => "ok");
  await world.idem.start();
  await world.stop();
  expect(await world.terminal.run("crons")).toBe(0);
  expect(world.terminal.written.err).toContain("No schedules are registered");
  expect(await world.terminal.json("crons")).toEqual([]);
});
