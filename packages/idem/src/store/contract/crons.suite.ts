// Ticks of schedules: each instant of a schedule is decided once, whoever asks and whatever the clock did.
import { describe, expect, test } from "vitest";
import type { TickInput } from "../flow.ts";
import {
  decidedPair,
  end,
  env,
  everyWrite,
  fn,
  newTick,
  type OpenStore,
  openWorld,
  startFlow,
  type World,
} from "./world.ts";

const hourly = "0 * * * *";
const daily = "0 0 * * *";

const tick = async (world: World, ticks: TickInput["ticks"], over: Partial<TickInput> = {}) => {
  const answer = await world.store.tick({ env, registration: null, ticks, leaseTo: null, ...over });
  if (answer.kind !== "ticked") throw new Error(`not ticked: ${answer.kind}`);
  return answer;
};
const runCount = async (world: World) => (await world.store.reads.runs(env, { limit: 100 })).length;

async function scheduled(open: Parameters<typeof openWorld>[0], crons: readonly string[] = [hourly]) {
  const world = await openWorld(open);
  await world.register({ [fn]: crons });
  return { world, now: world.clock.wallMs() };
}

/** Instants up to 100 ms after the registration have come. */
async function due(open: Parameters<typeof openWorld>[0], crons?: readonly string[]) {
  const { world, now } = await scheduled(open, crons);
  world.clock.advance(100);
  return { world, now };
}

export function cronsSuite(open: OpenStore): void {
  describe("schedules", () => {
    test("a schedule begins when it is first registered, and keeps its place when it is registered again", async () => {
      const { world, now } = await scheduled(open, [hourly, daily]);
      expect(await world.store.reads.crons(env)).toEqual(
        [
          { fn, cron: hourly, lastTickAt: now },
          { fn, cron: daily, lastTickAt: now },
        ].sort((a, b) => (a.cron < b.cron ? -1 : 1)),
      );
      world.clock.advance(1_000);
      await world.register({ [fn]: [hourly, "@weekly"] });
      expect(await world.store.reads.crons(env)).toEqual([
        { fn, cron: hourly, lastTickAt: now },
        { fn, cron: "@weekly", lastTickAt: now + 1_000 },
      ]);
    });

    test("a function that is gone takes its schedules along; one that comes back begins anew", async () => {
      const { world, now } = await scheduled(open);
      await world.register({});
      expect(await world.store.reads.crons(env)).toEqual([]);
      expect(await tick(world, [newTick(hourly, now + 1)])).toMatchObject({ fired: [], decisions: [] });
      world.clock.advance(1_000);
      await world.register({ [fn]: [hourly] });
      expect(await world.store.reads.crons(env)).toEqual([{ fn, cron: hourly, lastTickAt: now + 1_000 }]);
    });

    test("the schedules of other apps and environments are left alone", async () => {
      const { world, now } = await scheduled(open);
      const functions = [{ fn: "post-a", id: "a", config: "{}", crons: [daily] }];
      await world.store.register({ env, app: "post", functions });
      await world.store.register({ env: "elsewhere", app: "shop", functions: [] });
      await world.store.register({ env, app: "shop", functions: [] });
      expect(await world.store.reads.crons(env)).toEqual([{ fn: "post-a", cron: daily, lastTickAt: now }]);
    });
  });

  describe("ticks", () => {
    test("a tick stores its event, its decision and its run, and moves the schedule", async () => {
      const { world, now } = await due(open);
      const answer = await tick(world, [newTick(hourly, now + 10, { runId: "r1", leaseTo: "w1" })]);
      expect(answer).toMatchObject({
        fired: [0],
        events: [{ firstEventId: null }],
        decisions: [{ fn, kind: "started", runId: "r1" }],
        leased: [{ jobId: "r1" }],
      });
      expect(await world.memo("r1")).toMatchObject({ event: { name: "idem/scheduled.timer" } });
      expect(await world.store.reads.crons(env)).toEqual([{ fn, cron: hourly, lastTickAt: now + 10 }]);
    });

    test("a tick whose time has not come by the store's clock is left for later", async () => {
      const { world, now } = await scheduled(open);
      const early = [newTick(hourly, now + 10)];
      world.clock.advance(9);
      expect(await tick(world, early)).toMatchObject({ fired: [] });
      expect(await world.store.reads.crons(env)).toEqual([{ fn, cron: hourly, lastTickAt: now }]);
      world.clock.advance(1);
      expect(await tick(world, early)).toMatchObject({ fired: [0] });
    });

    test("whoever asks again, its answer lost, is told again what was born leased to it", async () => {
      const { world, now } = await due(open);
      const ticks = [newTick(hourly, now + 10, { runId: "r1", leaseTo: "w1" })];
      const first = await tick(world, ticks);
      const second = await tick(world, ticks);
      expect(second).toMatchObject({ fired: [], decisions: [] });
      expect(second.leased).toEqual(first.leased);
      await world.store.handBack("w1");
      expect((await tick(world, ticks)).leased).toEqual([]);
    });

    test("what a tick says about earlier ones is kept where another schedule has its instant", async () => {
      const { world, now } = await due(open, [hourly, daily]);
      const missed = (cron: string, reason: string, speaksFor: string | null) => ({
        ...newTick(cron, now + 10),
        pair: decidedPair({ kind: "missed", reason }),
        speaksFor,
      });
      await tick(world, [
        missed(hourly, "late", null),
        missed(daily, "late; so were 7 earlier ones", "so were 7 earlier ones"),
      ]);
      const [event] = await world.store.reads.events(env, { limit: 10 });
      expect(await world.store.reads.decisionsOfEvent(env, event!.id)).toMatchObject([
        { kind: "missed", reason: `late; schedule "${daily}": so were 7 earlier ones` },
      ]);
    });

    test("so it is where the other schedule started a run, and the start is told once", async () => {
      const { world, now } = await due(open, [hourly, daily]);
      const first = newTick(hourly, now + 10, { runId: "r1" });
      const second = { ...newTick(daily, now + 10, { runId: "r2" }), speaksFor: "so were 7 earlier ones" };
      await tick(world, [first, second]);
      const [event] = await world.store.reads.events(env, { limit: 10 });
      const reason = `schedule "${daily}": so were 7 earlier ones`;
      const told = [{ kind: "started", runId: "r1", reason }];
      expect(await world.store.reads.decisionsOfEvent(env, event!.id)).toMatchObject(told);
      expect((await world.store.reads.decisionPage(env, { limit: 10, examinedMax: 10 })).rows).toMatchObject(told);
    });

    test("of three nodes that ask at once one fires", async () => {
      const { world, now } = await due(open);
      const answers = await Promise.all(
        [1, 2, 3].map((n) => tick(world, [newTick(hourly, now + 10, { runId: `r${n}` })])),
      );
      expect(answers.map(({ fired }) => fired.length).sort()).toEqual([0, 0, 1]);
      expect(await runCount(world)).toBe(1);
    });

    test("a clock that goes back by a day decides nothing again, and one that jumps ahead skips nothing it is asked for", async () => {
      const { world, now } = await due(open);
      const day = 25 * 60 * 60 * 1_000;
      world.clock.stepWall(day);
      await tick(world, [newTick(hourly, now + day)]);
      world.clock.stepWall(-day);
      for (const tickAt of [now - day, now, now + 1, now + day - 1, now + day]) {
        expect(await tick(world, [newTick(hourly, tickAt)])).toMatchObject({ fired: [], leased: [], decisions: [] });
      }
      world.clock.stepWall(3 * day);
      const ahead = [1, 2, 3].map((n) => newTick(hourly, now + day + n));
      expect(await tick(world, ahead)).toMatchObject({ fired: [0, 1, 2] });
      expect(await runCount(world)).toBe(4);
    });

    test("of ticks out of order the earlier ones are decided already", async () => {
      const { world, now } = await due(open);
      expect(
        await tick(
          world,
          [2, 1, 3].map((n) => newTick(hourly, now + n)),
        ),
      ).toMatchObject({ fired: [0, 2] });
    });

    test("two schedules of a function that meet are one run, in one call or in two", async () => {
      const { world, now } = await due(open, [hourly, daily]);
      const meet = (at: number) => [newTick(hourly, at), newTick(daily, at)];
      expect(await tick(world, meet(now + 10))).toMatchObject({ fired: [0] });
      const [one, other] = meet(now + 20);
      expect(await tick(world, [one!])).toMatchObject({ fired: [0] });
      expect(await tick(world, [other!])).toMatchObject({ fired: [] });
      expect(await runCount(world)).toBe(2);
      for (const { lastTickAt } of await world.store.reads.crons(env)) expect(lastTickAt).toBe(now + 20);
    });

    test("a schedule nobody registered never fires", async () => {
      const { world, now } = await due(open);
      expect(await tick(world, [newTick(daily, now + 10)])).toMatchObject({ fired: [] });
      expect(await tick(world, [newTick(hourly, now + 10, { fn: "shop-other" })])).toMatchObject({ fired: [] });
      expect(await tick(world, [newTick(hourly, now + 10)], { env: "elsewhere" })).toMatchObject({ fired: [] });
      expect(await world.store.reads.events(env, { limit: 10 })).toEqual([]);
    });

    test("a tick that was missed, or of a paused function, leaves its decision and can be asked about", async () => {
      const { world, now } = await due(open);
      const decided = (kind: "missed" | "paused", at: number) => ({
        ...newTick(hourly, at),
        pair: decidedPair({ kind, reason: `it was ${kind}` }),
      });
      const answer = await tick(world, [
        decided("missed", now + 1),
        decided("paused", now + 2),
        newTick(hourly, now + 3),
      ]);
      expect(answer.fired).toEqual([0, 1, 2]);
      expect(answer.decisions.map(({ kind, reason }) => [kind, reason])).toEqual([
        ["missed", "it was missed"],
        ["paused", "it was paused"],
        ["started", null],
      ]);
    });

    test("ticks pass what every start passes", async () => {
      const { world, now } = await due(open);
      const flow = startFlow({ singleton: { key: "{}", mode: "skip" } });
      const { decisions } = await tick(
        world,
        [1, 2].map((n) => newTick(hourly, now + n, { flow })),
      );
      expect(decisions.map(({ kind }) => kind)).toEqual(["started", "singleton-skipped"]);
    });

    test("ticks decided with an old registration are refused, and the schedule stays where it was", async () => {
      const { world, now } = await due(open);
      const rows = await world.rows();
      const ticks = [newTick(hourly, now + 10)];
      expect(await world.store.tick({ env, registration: 0, ticks, leaseTo: null })).toEqual({
        kind: "stale-registration",
        registration: 1,
      });
      expect(await world.rows()).toEqual(rows);
    });

    test("asked again after its answer was lost, whatever was registered since, it says what it began and decides nothing", async () => {
      const world = await openWorld(open);
      await world.register({ [fn]: [hourly] });
      const now = world.clock.wallMs();
      world.clock.advance(30);
      const began = newTick(hourly, now + 10, { runId: "r1", leaseTo: "w1" });
      const asked = { env, registration: 1, ticks: [began], leaseTo: "w1" };
      expect(await world.store.tick(asked)).toMatchObject({ kind: "ticked", leased: [{ jobId: "r1" }] });
      await world.register({ [fn]: [hourly], "shop-other": [] });
      const rows = await world.rows();
      const later = newTick(hourly, now + 20, { runId: "r2", leaseTo: "w1" });
      expect(await world.store.tick({ ...asked, ticks: [began, later] })).toMatchObject({
        kind: "ticked",
        fired: [],
        leased: [{ jobId: "r1", fence: 1 }],
        decisions: [],
      });
      expect(await world.rows()).toEqual(rows);
      // Once it got on, its worker knows of it: then the older picture is what counts.
      await world.advance("r1", { next: end("completed") });
      expect(await world.store.tick(asked)).toEqual({ kind: "stale-registration", registration: 2 });
    });

    everyWrite(
      open,
      "tick",
      async (world) => {
        await world.register({ [fn]: [hourly] });
        const ticks = [newTick(hourly, world.clock.wallMs() + 10, { key: '"k"' })];
        world.clock.advance(10);
        return () => tick(world, ticks);
      },
      // The repeat finds the instant decided.
      null,
    );
  });
}
