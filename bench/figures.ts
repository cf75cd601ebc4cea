// The figures of `npm run bench`. `--scale 0.1` makes all of them smaller.
import { ceilingOf } from "./ceiling.ts";
import { keepInFlight, quantile, shuffled, type Throughput, withLoopDelay } from "./measure.ts";
import { type Figure, type Figures, scaled } from "./take-figures.ts";
import { fill, onFreshFile, openStore, withEngine } from "./world.ts";

const flat = ({ perSecond, p50Ms, p99Ms }: Throughput): Figure => ({ perSecond, p50Ms, p99Ms });

async function ceiling(inFlight: number, total: number, key: boolean): Promise<Figure> {
  return onFreshFile(async (path) => {
    const store = await openStore(path);
    const one = await ceilingOf(store, key);
    await keepInFlight(inFlight, Math.min(total, 2_000), (n) => one(-n - 1));
    const result = await keepInFlight(inFlight, total, one);
    await store.close();
    return flat(result);
  });
}

async function engine(inFlight: number, total: number, key: boolean): Promise<Figure> {
  return onFreshFile((path) =>
    withEngine(path, { key, runsInFlight: 2_000 }, async (_, one) => {
      await keepInFlight(inFlight, Math.min(total, 2_000), (n) => one(-n - 1));
      const before = process.cpuUsage();
      const { result, loop } = await withLoopDelay(() => keepInFlight(inFlight, total, one));
      const { user, system } = process.cpuUsage(before);
      // Of all threads, per run.
      return { ...flat(result), cpuUs: (user + system) / total, loopDelayP99Ms: loop.p99Ms };
    }),
  );
}

/** Throughput on a store that already holds so many runs, filled through the store's own operations. */
async function afterStored(stored: number, total: number): Promise<Figure> {
  return onFreshFile(async (path) => {
    const store = await openStore(path);
    const fill = await ceilingOf(store, true);
    await keepInFlight(1_000, stored, (n) => fill(1_000_000_000 + n));
    await store.close();
    return withEngine(path, { key: true, runsInFlight: 2_000 }, async (_, one) => {
      await keepInFlight(100, Math.min(total, 2_000), (n) => one(-n - 1));
      return flat(await keepInFlight(100, total, one));
    });
  });
}

/** Duplicates of one key answered per second. */
async function hotKey(total: number): Promise<Figure> {
  return onFreshFile((path) =>
    withEngine(path, { key: true, runsInFlight: 100 }, async (idem, one) => {
      await one(7);
      const batch = 50;
      const events = Array.from({ length: batch }, () => ({ name: "bench/run", data: { n: shuffled(7) } }));
      const single = await keepInFlight(200, total, async () => {
        await idem.send({ name: "bench/run", data: { n: shuffled(7) } });
      });
      const batched = await keepInFlight(20, Math.ceil(total / batch), async () => {
        await idem.send(events);
      });
      return { perSecond: single.perSecond, inBatchesPerSecond: batched.perSecond * batch };
    }),
  );
}

/** Memory of a process that holds sleeping runs, against one that holds none; and how late they wake. */
async function sleepers(count: number): Promise<Figure> {
  return onFreshFile((path) =>
    withEngine(path, { key: false, runsInFlight: 2_000 }, async (idem) => {
      const resident = () => {
        globalThis.gc?.();
        return process.memoryUsage().rss / 2 ** 20;
      };
      const before = resident();
      const until = new Date(Date.now() + 86_400_000).toISOString();
      await fill(idem, count, () => ({ name: "bench/sleep", data: { until } }));
      const megabytes = resident() - before;
      const late: Promise<number>[] = [];
      for (let i = 0; i < 200; i++) {
        const at = Date.now() + 150 + i * 3;
        const { decisions } = await idem.send({ name: "bench/sleep", data: { until: new Date(at).toISOString() } });
        late.push(
          (async () => {
            const { output } = await idem.runs.wait(decisions[0]!.runId!);
            return Number(output) - at;
          })(),
        );
      }
      const lateness = Float64Array.from(await Promise.all(late)).sort();
      return { megabytes, lateP50Ms: quantile(lateness, 0.5), lateP99Ms: quantile(lateness, 0.99) };
    }),
  );
}

export const figures: Figures = {
  "ceiling-100": (s) => ceiling(100, scaled(60_000, s), true),
  "ceiling-1000": (s) => ceiling(1_000, scaled(60_000, s), true),
  "engine-1": (s) => engine(1, scaled(3_000, s), true),
  "engine-100": (s) => engine(100, scaled(60_000, s), true),
  "engine-1000": (s) => engine(1_000, scaled(60_000, s), true),
  "engine-100-no-key": (s) => engine(100, scaled(60_000, s), false),
  "hot-key": (s) => hotKey(scaled(100_000, s)),
  sleepers: (s) => sleepers(scaled(100_000, s)),
  "after-10k": (s) => afterStored(scaled(10_000, s), scaled(40_000, s)),
  "after-1m": (s) => afterStored(scaled(1_000_000, s), scaled(40_000, s)),
};
