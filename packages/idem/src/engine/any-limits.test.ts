// Runs that come, sleep, fail, are cancelled and repeated in any order: no limit is ever exceeded, and no run is forgotten.
import { describe, expect, test } from "vitest";
import type { FunctionOptions } from "../sdk/function-types.ts";
import { stores } from "../testing/one-run.suite.ts";
import { oneStore } from "../testing/one-store.suite.ts";

interface Data {
  readonly a: number;
  readonly b: number;
  readonly nap: number;
  readonly fails: boolean;
}

interface Limited {
  readonly options: Partial<FunctionOptions>;
  /** The slots a run takes, with what each allows. */
  readonly slots: (data: Data) => readonly (readonly [slot: string, limit: number])[];
  /** The steps it ends with, side by side; one unless said. */
  readonly last?: readonly string[];
}

const shared = { scope: "env", key: "string(event.data.b)" } as const;
const limited: Record<string, Limited> = {
  two: {
    options: { concurrency: [{ limit: 3 }, { limit: 1, key: "event.data.a" }] },
    slots: ({ a }) => [
      ["two", 3],
      [`two ${a}`, 1],
    ],
  },
  narrow: {
    options: {
      concurrency: [
        { limit: 2, ...shared },
        { limit: 1, key: "event.data.a" },
      ],
      priority: { run: "event.data.a" },
    },
    slots: ({ a, b }) => [
      [`shared ${b}`, 2],
      [`narrow ${a}`, 1],
    ],
  },
  wide: {
    options: { concurrency: { limit: 3, ...shared }, timeouts: { start: "1m" } },
    slots: ({ b }) => [[`shared ${b}`, 3]],
  },
  spaced: {
    options: {
      concurrency: { limit: 2, key: "event.data.a" },
      throttle: { limit: 2, period: "3s", key: "event.data.b" },
    },
    slots: ({ a }) => [[`spaced ${a}`, 2]],
  },
  beside: {
    options: {
      concurrency: [
        { limit: 3, ...shared, parallelSteps: true },
        { limit: 2, key: "event.data.a", parallelSteps: true },
      ],
    },
    slots: ({ a, b }) => [
      [`shared ${b}`, 3],
      [`beside ${a}`, 2],
    ],
    last: ["second", "third", "fourth"],
  },
  alone: {
    options: { concurrency: { limit: 1, ...shared }, singleton: { mode: "cancel", key: "event.data.a" } },
    slots: ({ b }) => [[`shared ${b}`, 1]],
  },
};

interface AtWork {
  readonly fn: string;
  readonly runId: string;
  readonly slots: ReturnType<Limited["slots"]>;
  readonly leave: () => void;
}

/** mulberry32 */
function chanceOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = Math.imul(state ^ (state >>> 15), state | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

async function live(store: (typeof stores)[number], seed: number) {
  const chance = chanceOf(seed);
  const { clock, process } = oneStore(store);
  const exceeded: string[] = [];
  const atWork = new Set<AtWork>();
  let entered = 0;
  const work = (run: Omit<AtWork, "leave">) =>
    new Promise<void>((resolve) => {
      entered++;
      atWork.add({ ...run, leave: resolve });
    });
  const letGo = (count: number) => {
    for (const entry of [...atWork].slice(0, count)) {
      atWork.delete(entry);
      entry.leave();
    }
  };
  const nodes = [process({ runsInFlight: 4 }).idem, process().idem];
  for (const idem of nodes) {
    for (const [id, { options, slots, last = ["second"] }] of Object.entries(limited)) {
      idem.createFunction(
        { id, retries: 1, backoff: () => 2_000, ...options },
        { event: `do/${id}` },
        async ({ event, runId, step }) => {
          const data = event.data as Data;
          const run = { fn: id, runId, slots: slots(data) };
          await step.run("first", async ({ attempt }) => {
            await work(run);
            if (data.fails && attempt === 1) throw new Error("again");
          });
          if (data.nap > 0) await step.sleep("nap", data.nap * 1_000);
          await Promise.all(last.map((name) => step.run(name, () => work(run))));
        },
      );
    }
    await idem.start();
  }
  const runs: string[] = [];
  const names = Object.keys(limited);
  const node = () => nodes[chance(nodes.length)]!;
  const look = async () => {
    for (const entry of atWork) {
      // A run that was cancelled holds nothing any more; its step learns of it at its end.
      if ((await nodes[0]!.runs.get(entry.runId))!.endedAt === null) continue;
      atWork.delete(entry);
      entry.leave();
    }
    const used = new Map<string, number>();
    const count = (name: string, limit: number) => {
      used.set(name, (used.get(name) ?? 0) + 1);
      if (used.get(name)! > limit) exceeded.push(`${name}: ${used.get(name)} of ${limit}`);
    };
    for (const { fn, slots } of atWork) {
      for (const [slot, limit] of slots) {
        count(`${slot} of ${fn}`, limit);
        // Each counts all, by its own limit, when it begins: together they are no more than the widest allows.
        count(slot, slot.startsWith("shared") ? 3 : limit);
      }
    }
  };
  for (let i = 0; i < 100; i++) {
    const what = chance(10);
    if (what < 4) {
      const events = Array.from({ length: 1 + chance(4) }, () => ({
        name: `do/${names[chance(names.length)]}`,
        data: { a: chance(3), b: chance(2), nap: Math.max(0, chance(5) - 2), fails: chance(5) === 0 },
      }));
      for (const { runId } of (await node().send(events)).decisions) if (runId !== null) runs.push(runId);
    } else if (what === 4 && runs.length > 0) await node().runs.cancel(runs[chance(runs.length)]!);
    else if (what === 5 && runs.length > 0) runs.push((await node().runs.rerun(runs[chance(runs.length)]!)).runId);
    else if (what < 8) letGo(1 + chance(3));
    await clock.tick(chance(3) === 0 ? 1_000 + chance(2_000) : 1);
    await look();
  }
  const open = async () =>
    (await Promise.all(runs.map((id) => nodes[0]!.runs.get(id)))).filter((run) => run!.endedAt === null);
  for (let i = 0; i < 300 && (i % 10 !== 0 || (await open()).length > 0); i++) {
    letGo(atWork.size);
    await clock.tick("1s");
    await look();
  }
  return { exceeded, left: (await open()).map((run) => `${run!.function} ${run!.state}`), entered };
}

describe.each(stores)("any order of things on %s", (store) => {
  test.each([1, 2])("seed %i: no limit is exceeded, and every run comes to its end", async (seed) => {
    const { exceeded, left, entered } = await live(store, seed);
    expect(entered).toBeGreaterThan(50);
    expect(exceeded).toEqual([]);
    expect(left).toEqual([]);
  });
});
