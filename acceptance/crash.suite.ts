// A process is killed twenty times in the middle of steps. What must still be true: every event that was acknowledged has its
// run, every run completes, and no step that was said to be safe is ever entered again.
import { afterAll, beforeAll, expect, test } from "vitest";
import type { HostedApp, Line } from "./app/messages.ts";
import { World } from "./world.ts";

const app: HostedApp = { id: "shop", adapter: "node", functions: ["chain"] };
const killCount = 20;
// Enough that at every kill some of them are in the middle of a step.
const inFlight = 6;

type Entry = Extract<Line, { kind: "enter" }>;

export interface Victim {
  readonly name: string;
  /** Before the first kill. */
  prepare(world: World): Promise<void>;
  kill(world: World): Promise<void>;
  /** Another one takes its place. */
  follow(world: World): Promise<void>;
}

export function crashSuite(victim: Victim): void {
  let world: World;
  beforeAll(async () => {
    world = await World.open({ mode: "start", apps: [app] });
    await victim.prepare(world);
  });
  afterAll(() => world?.close());

  test(`the ${victim.name} is killed ${killCount} times in the middle of steps, and nothing is lost or done again`, async () => {
    const sender = new Sender(world);
    sender.keep(inFlight);
    for (let hit = 0, tries = 0; hit < killCount; tries++) {
      // Between the first and the twentieth step of its life, so that kills fall everywhere and work still gets done.
      const steps = entriesOf(world).length + 1 + ((tries * 7) % 20);
      await world.untilLedger(() => entriesOf(world).length >= steps);
      const { run, step } = entriesOf(world).at(-1)!;
      await victim.kill(world);
      // A kill that came too late for the step it was meant for is not counted.
      if (!world.traces.safeAtMs.has(`${run} ${step}`)) hit++;
      await victim.follow(world);
    }
    const acknowledged = await sender.stop();
    expect(acknowledged.length).toBeGreaterThan(killCount);
    const runs = await Promise.all(
      acknowledged.map(async (eventId) => {
        const runId = await world.rest.runOf(eventId, "shop-chain");
        return { runId, eventId, ...(await world.rest.end(runId)) };
      }),
    );
    for (const run of runs) expect(run).toMatchObject({ status: "Completed", output: 15 });
    // One event, one run.
    expect(new Set(runs.map(({ runId }) => runId)).size).toBe(acknowledged.length);

    const entries = entriesOf(world);
    const times = (entry: Entry) => entries.filter(({ run, step }) => run === entry.run && step === entry.step).length;
    expect(entries.filter((entry) => times(entry) > 1).length).toBeGreaterThan(0);
    // All processes have the same clock; the server said it before the wire heard it.
    const { safeAtMs } = world.traces;
    const tooLate = entries.filter(({ run, step, atMs }) => atMs > (safeAtMs.get(`${run} ${step}`) ?? Infinity));
    expect(tooLate).toEqual([]);
    for (const { runId } of runs) {
      const steps = world.entered(runId);
      expect([...new Set(steps)]).toEqual(["link-1", "link-2", "link-3", "link-4", "link-5"]);
      expect(steps).toEqual(steps.toSorted());
    }
  });
}

const entriesOf = (world: World): Entry[] => world.ledger.filter((line): line is Entry => line.kind === "enter");

/** Keeps events coming; one that was not acknowledged is sent again under the same id, as a careful sender does. */
class Sender {
  private readonly acknowledged: string[] = [];
  private readonly open = new Set<Promise<void>>();
  private isStopped = false;
  private count = 0;

  constructor(private readonly world: World) {}

  keep(inFlight: number): void {
    for (let i = 0; i < inFlight; i++) {
      const lane = this.lane();
      this.open.add(lane);
    }
  }

  async stop(): Promise<readonly string[]> {
    this.isStopped = true;
    await Promise.all(this.open);
    return this.acknowledged;
  }

  /** One event after the other, each when the run of the one before is over. */
  private async lane(): Promise<void> {
    while (!this.isStopped) {
      const eventId = await this.send({ id: `order-${++this.count}`, name: "shop/chain", data: {} });
      this.acknowledged.push(eventId);
      while (!this.isStopped && !(await this.isOver(eventId))) await pause(50);
    }
  }

  private async send(event: object): Promise<string> {
    for (;;) {
      const answer = await this.world.rest.post([event]).catch(() => null);
      if (answer?.status === 200) return answer.json.ids[0];
      await pause(50);
    }
  }

  private async isOver(eventId: string): Promise<boolean> {
    const runs = await this.world.rest.get(`/v1/events/${eventId}/runs`).catch(() => null);
    return runs?.data.some(({ status }: { status: string }) => status === "Completed") ?? false;
  }
}

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));
