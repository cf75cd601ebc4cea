// Duplicates of one key or one event id next to events with keys of their own: in calls of many events, in calls of one, and from two
// processes. All on one server and one database in a round, in turn; ratios are taken within a round.
import { once } from "node:events";
import { type Spread, spread } from "../peers/summary.ts";
import type { HotFigures, HotLoad, HotRequest, HotResponse, KeyUse } from "./hot-keys-node.ts";
import { said, startChild } from "./measured.ts";
import type { BenchServer } from "./server.ts";

const uses: readonly KeyUse[] = ["distinct", "one-key", "one-id"];

interface Shape {
  readonly name: string;
  readonly processes: number;
  readonly callers: number;
  readonly eventsPerCall: number;
  /** Measured by so many calls; by time unless given. */
  readonly calls?: number;
  /** Of the rate with distinct keys. */
  readonly aim: number;
}

const shapes: readonly Shape[] = [
  { name: "calls of 100 events, 8 callers", processes: 1, callers: 8, eventsPerCall: 100, aim: 0.8 },
  { name: "calls of 5,000 events, 1 caller", processes: 1, callers: 1, eventsPerCall: 5_000, calls: 2, aim: 0.8 },
  { name: "calls of 1 event, 8 callers", processes: 1, callers: 8, eventsPerCall: 1, aim: 0.6 },
  { name: "calls of 1 event, 100 callers", processes: 1, callers: 100, eventsPerCall: 1, aim: 0.6 },
  { name: "calls of 1 event, 8 callers in each of 2 processes", processes: 2, callers: 8, eventsPerCall: 1, aim: 0.6 },
];

export interface HotUse {
  readonly eventsPerSecond: Spread;
  /** To the rate with distinct keys, within a round. */
  readonly ratio: Spread;
  /** Of a call. */
  readonly p99Ms: Spread;
  /** For an event. */
  readonly statements: Spread;
}

export interface HotKeys {
  readonly name: string;
  readonly aim: number;
  readonly uses: Readonly<Record<KeyUse, HotUse>>;
}

export async function measureHotKeys(
  server: BenchServer,
  { rounds, warmUpMs, windowMs }: { readonly rounds: number; readonly warmUpMs: number; readonly windowMs: number },
): Promise<readonly HotKeys[]> {
  const taken = shapes.map((shape) => ({ shape, figures: new Map(uses.map((use) => [use, [] as HotFigures[]])) }));
  for (let round = 1; round <= rounds; round++) {
    const database = `idem_hot_${round}`;
    await server.createDatabase(database);
    const children = [];
    // One after the other: the first makes the tables.
    for (const n of [0, 1]) {
      const child = startChild("postgres/hot-keys-node.js", [server.urlOf(database), String(n * 1_000_000_000)]);
      await said<HotResponse, "ready">(child, "ready");
      children.push(child);
    }
    for (const { shape, figures } of taken) {
      for (const use of uses) {
        const { callers, eventsPerCall, processes, calls = null } = shape;
        const hotKey = `hot ${round} ${shape.name} ${use}`;
        const load: HotLoad = { kind: "load", use, callers, eventsPerCall, calls, warmUpMs, windowMs, hotKey };
        const all = await Promise.all(
          children.slice(0, processes).map(async (child) => {
            const figures = said<HotResponse, "figures">(child, "figures");
            child.send(load satisfies HotRequest);
            return (await figures).figures;
          }),
        );
        const one = sumOf(all);
        process.stderr.write(
          `  round ${round}/${rounds}, ${shape.name}, ${use}: ${Math.round(one.eventsPerSecond)} events/s · ${one.statements.toFixed(2)} statements an event\n`,
        );
        figures.get(use)!.push(one);
      }
    }
    for (const child of children) {
      const gone = once(child, "exit");
      child.send({ kind: "stop" } satisfies HotRequest);
      await gone;
    }
  }
  return taken.map(({ shape: { name, aim }, figures }) => {
    const distinct = figures.get("distinct")!;
    const useOf = (use: KeyUse): HotUse => {
      const all = figures.get(use)!;
      return {
        eventsPerSecond: spread(all.map(({ eventsPerSecond }) => eventsPerSecond)),
        ratio: spread(all.map(({ eventsPerSecond }, round) => eventsPerSecond / distinct[round]!.eventsPerSecond)),
        p99Ms: spread(all.map(({ callP99Ms }) => callP99Ms)),
        statements: spread(all.map(({ statements }) => statements)),
      };
    };
    return {
      name,
      aim,
      uses: { distinct: useOf("distinct"), "one-key": useOf("one-key"), "one-id": useOf("one-id") },
    };
  });
}

/** Of processes that sent at the same time. */
const sumOf = (all: readonly HotFigures[]): HotFigures => ({
  eventsPerSecond: all.reduce((sum, { eventsPerSecond }) => sum + eventsPerSecond, 0),
  callP50Ms: Math.max(...all.map(({ callP50Ms }) => callP50Ms)),
  callP99Ms: Math.max(...all.map(({ callP99Ms }) => callP99Ms)),
  statements: all.reduce((sum, { statements }) => sum + statements, 0) / all.length,
});
