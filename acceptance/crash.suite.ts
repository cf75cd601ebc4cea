// A process is killed twenty times in the middle of steps. What must still be true: every event that was acknowledged has its
// run, every run completes, and a step that is safe is never entered again.
import { afterAll, beforeAll, expect, onTestFinished, test, vi } from "vitest";
import type { HostedApp, Line } from "./app/messages.ts";
import { World } from "./world.ts";

const app: HostedApp = { id: "shop", adapter: "node", functions: ["chain"] };
const killCount = 20;
// Enough that at every kill some of them are in the middle of a step.
const inFlight = 6;
// A kill and a start take about a second on two idle cores.
const patienceMs = 600_000;

const functions = {
  chain: ["link-1", "link-2", "link-3", "link-4", "link-5"],
  fan: ["blade-4", "blade-5", "blade-6", "hub"],
} as const;
const functionNames = ["chain", "fan"] as const;

type Entry = Extract<Line, { kind: "enter" }>;

export interface Victim {
  readonly name: string;
  /** Before the first kill. */
  prepare(world: World): Promise<void>;
  kill(world: World): Promise<void>;
  /** Another one takes its place. */
  follow(world: World): Promise<void>;
  /** From when on a step must not be entered again; null while it may. */
  safeAtMs(world: World, step: string): number | null;
}

export function crashSuite(victim: Victim): void {
  let world: World;
  beforeAll(async () => {
    world = await World.open({ mode: "start", apps: [app] });
    await victim.prepare(world);
  });
  afterAll(() => world?.close());

  test(
    `the ${victim.name} is killed ${killCount} times in the middle of steps: nothing is lost, nothing safe is done again`,
    async () => {
      const sender = new Sender(world);
      sender.begin();
      onTestFinished(() => void sender.stop());
      for (let hit = 0, tries = 0; hit < killCount; tries++) {
        // Between the first and the twentieth step of its life, so that kills fall everywhere and work still gets done.
        const steps = entriesOf(world).length + 1 + ((tries * 7) % 20);
        await world.untilLedger(() => entriesOf(world).length >= steps);
        const last = entriesOf(world).at(-1)!;
        await victim.kill(world);
        // A kill that came too late for the step it was meant for is not counted.
        const { safeAtMs, answeredAtMs } = world.traces;
        if (!safeAtMs.has(nameOf(last)) && !answeredAtMs.has(nameOf(last))) hit++;
        await victim.follow(world);
      }
      const acknowledged = await sender.stop();

      const runs = await Promise.all(
        acknowledged.map(async ({ fn, eventId }) => {
          const runId = await world.rest.runOf(eventId, `shop-${fn}`);
          return { fn, runId, end: await world.rest.end(runId) };
        }),
      );
      expect(runs.length).toBeGreaterThan(inFlight);
      expect(runs.map(({ end }) => [end.status, end.output])).toEqual(runs.map(() => ["Completed", 15]));
      // One event, one run.
      expect(new Set(runs.map(({ runId }) => runId)).size).toBe(runs.length);
      for (const { fn, runId } of runs) {
        const entered = world.entered(runId);
        expect([...new Set(entered)].sort()).toEqual([...functions[fn]].sort());
        if (fn === "chain") expect(entered).toEqual(entered.toSorted());
      }
      const entries = entriesOf(world);
      expect(new Set(entries.map(nameOf)).size).toBeLessThan(entries.length);
      // All processes have the same clock.
      const tooLate = entries.filter((entry) => entry.atMs > (victim.safeAtMs(world, nameOf(entry)) ?? Infinity));
      expect(tooLate).toEqual([]);
    },
    patienceMs,
  );
}

const entriesOf = (world: World): Entry[] => world.ledger.filter((line): line is Entry => line.kind === "enter");
const nameOf = ({ run, step }: Entry): string => `${run} ${step}`;

interface Acknowledged {
  readonly fn: (typeof functionNames)[number];
  readonly eventId: string;
}

/** Keeps events coming; one that was not acknowledged is sent again under the same id, as a careful sender does. */
class Sender {
  private readonly acknowledged: Acknowledged[] = [];
  private lanes: readonly Promise<void>[] = [];
  private isStopped = false;
  private count = 0;

  constructor(private readonly world: World) {}

  begin(): void {
    this.lanes = Array.from({ length: inFlight }, (_, i) => this.lane(functionNames[i % functionNames.length]!));
  }

  async stop(): Promise<readonly Acknowledged[]> {
    this.isStopped = true;
    await Promise.all(this.lanes);
    return this.acknowledged;
  }

  /** One event after the other, each when the run of the one before is over. */
  private async lane(fn: Acknowledged["fn"]): Promise<void> {
    while (!this.isStopped) {
      const eventId = await this.send({ id: `order-${++this.count}`, name: `shop/${fn}`, data: {} });
      if (eventId === null) return;
      this.acknowledged.push({ fn, eventId });
      await this.until(() => this.isOver(eventId));
    }
  }

  private async send(event: object): Promise<string | null> {
    let eventId: string | null = null;
    await this.until(async () => {
      const answer = await this.world.rest.post([event]).catch(() => null);
      if (answer?.status === 200) eventId = answer.json.ids[0];
      return eventId !== null;
    });
    return eventId;
  }

  /** Until it holds, or the sender is stopped. */
  private async until(holds: () => Promise<boolean>): Promise<void> {
    await vi.waitFor(async () => expect(this.isStopped || (await holds())).toBe(true), {
      timeout: patienceMs,
      interval: 50,
    });
  }

  private async isOver(eventId: string): Promise<boolean> {
    const runs = await this.world.rest.get(`/v1/events/${eventId}/runs`).catch(() => null);
    return runs?.data.some(({ status }: { status: string }) => status === "Completed") ?? false;
  }
}
