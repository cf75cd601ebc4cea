// The figures of `npm run bench:flow`. `--scale 0.1` makes all of them smaller.
import { setTimeout as after } from "node:timers/promises";
import type { FunctionOptions } from "../packages/idem/modules/index.js";
import type { Idem } from "./engine.ts";
import { keepInFlight, quantile, shuffled, withLoopDelay } from "./measure.ts";
import { type Figure, type Figures, scaled } from "./take-figures.ts";
import { defineThreeSteps, fill, oneRun, onFreshFile, withIdem } from "./world.ts";

const keys = 1_000;
const runsInFlight = 2_000;
const perKey = { concurrency: { limit: 2, key: "event.data.k" } };
const keyOf = (n: number): string => `k${shuffled(n) % keys}`;

// ---------------------------------------------------------------------------------------------------- limits

async function limited(options: Omit<FunctionOptions, "id">, total: number): Promise<Figure> {
  const define = (idem: Idem) => defineThreeSteps(idem, options);
  return onFreshFile((path) =>
    withIdem({ path, runsInFlight }, define, async (idem) => {
      const one = (n: number) => oneRun(idem, { n, k: keyOf(n) });
      await keepInFlight(100, Math.min(total, 2_000), (n) => one(-n - 1));
      const before = process.cpuUsage();
      const taken = await keepInFlight(100, total, one);
      const { user, system } = process.cpuUsage(before);
      return { ...taken, cpuUsPerRun: (user + system) / total };
    }),
  );
}

/** All events first, then their runs: those that cannot begin at once stand in line, and are leased from there. */
async function backlog(options: Omit<FunctionOptions, "id">, total: number): Promise<Figure> {
  let begun = 0;
  const define = (idem: Idem) =>
    defineThreeSteps(idem, options, () => {
      begun++;
    });
  return onFreshFile((path) =>
    withIdem({ path }, define, async (idem) => {
      const events = Array.from({ length: total }, (_, n) => ({ name: "bench/run", data: { n, k: keyOf(n) } }));
      const before = process.cpuUsage();
      const startedAt = performance.now();
      for (let sent = 0; sent < total; sent += 500) await idem.send(events.slice(sent, sent + 500));
      const sentMs = performance.now() - startedAt;
      while (begun < total) await after(5);
      await idem.idle();
      const seconds = (performance.now() - startedAt) / 1_000;
      const { user, system } = process.cpuUsage(before);
      return { perSecond: total / seconds, sentMs, cpuUsPerRun: (user + system) / total };
    }),
  );
}

/**
 * One key has half of the events and more of them than its limit lets through; the other half, on 1,000 keys, is kept 50 in flight.
 * A small key's wait is counted in runs that begin between its sending and its own beginning.
 */
async function hotKey(total: number): Promise<Figure> {
  let begun = 0;
  let hotBegun = 0;
  const sentAt = new Map<number, number>();
  const waited: number[] = [];
  const define = (idem: Idem) =>
    defineThreeSteps(idem, perKey, ({ n, k }) => {
      if (k === "hot") hotBegun++;
      else if (n >= 0) waited.push(begun - sentAt.get(n)!);
      begun++;
    });
  return onFreshFile((path) =>
    withIdem({ path, runsInFlight }, define, async (idem) => {
      const one = async (n: number, beside: boolean) => {
        sentAt.set(n, begun);
        const small = { name: "bench/run", data: { n, k: keyOf(n) } };
        const hot = { name: "bench/run", data: { n, k: "hot" } };
        const { decisions } = await idem.send(beside ? [small, hot] : small);
        await idem.runs.wait(decisions[0]!.runId!);
      };
      await keepInFlight(50, Math.min(total, 2_000), (n) => one(-n - 1, false));
      const alone = await keepInFlight(50, total, (n) => one(n, false));
      const aloneWaited = Float64Array.from(waited.splice(0)).sort();
      const hotBefore = hotBegun;
      const beside = await keepInFlight(50, total, (n) => one(n, true));
      const besideWaited = Float64Array.from(waited).sort();
      const seconds = total / beside.perSecond;
      return {
        perSecond: beside.perSecond,
        hotPerSecond: (hotBegun - hotBefore) / seconds,
        alonePerSecond: alone.perSecond,
        waitedRunsP50: quantile(besideWaited, 0.5),
        waitedRunsP99: quantile(besideWaited, 0.99),
        aloneWaitedRunsP99: quantile(aloneWaited, 0.99),
        p99Ms: beside.p99Ms,
        aloneP99Ms: alone.p99Ms,
        hotLeft: total - (hotBegun - hotBefore),
      };
    }),
  );
}

// ---------------------------------------------------------------------------------------------------- events that reach runs

const few = 1_000;
const sameId = "async.data.id == event.data.id";

/** One event for one of so many waiting runs, from its sending to the code behind the wait. */
async function waits(count: number, total: number): Promise<Figure> {
  const heard = new Map<number, (at: number) => void>();
  const define = (idem: Idem) =>
    idem.createFunction({ id: "waiter" }, { event: "bench/wait" }, async ({ event, step }) => {
      await step.waitForEvent("answer", { event: "bench/answer", if: sameId, timeout: "30d" });
      heard.get(event.data.id)?.(performance.now());
    });
  const add = (idem: Idem, from: number, to: number) =>
    fill(idem, to - from, (n) => ({ name: "bench/wait", data: { id: from + n } }));
  const match = async (idem: Idem, id: number) => {
    const resumed = new Promise<number>((resolve) => heard.set(id, resolve));
    await idem.send({ name: "bench/answer", data: { id } });
    await resumed;
    heard.delete(id);
  };
  return againstFewAndMany(define, add, match, "bench/answer", count, total);
}

/** One event that cancels one of so many sleeping runs, from its sending to the news of the run's end. */
async function cancels(count: number, total: number): Promise<Figure> {
  const runIds: string[] = [];
  const define = (idem: Idem) =>
    idem.createFunction(
      { id: "sleeper", cancelOn: [{ event: "bench/cancel", if: sameId }] },
      { event: "bench/nap" },
      async ({ step }) => {
        await step.sleep("nap", "30d");
      },
    );
  const add = (idem: Idem, from: number, to: number) =>
    fill(
      idem,
      to - from,
      (n) => ({ name: "bench/nap", data: { id: from + n } }),
      (runId, n) => {
        runIds[from + n] = runId;
      },
    );
  const match = async (idem: Idem, id: number) => {
    const ended = idem.runs.wait(runIds[id]!);
    await idem.send({ name: "bench/cancel", data: { id } });
    const { state } = await ended;
    if (state !== "cancelled") throw new Error(`run ${runIds[id]} ended as ${state}`);
  };
  return againstFewAndMany(define, add, match, "bench/cancel", count, total);
}

async function againstFewAndMany(
  define: (idem: Idem) => void,
  add: (idem: Idem, from: number, to: number) => Promise<void>,
  match: (idem: Idem, id: number) => Promise<void>,
  eventName: string,
  count: number,
  total: number,
): Promise<Figure> {
  const miss = async (idem: Idem) => {
    await idem.send({ name: eventName, data: { id: -1 } });
    await idem.idle();
  };
  return onFreshFile((path) =>
    withIdem({ path, runsInFlight }, define, async (idem) => {
      const measure = async (first: number) => {
        // Ids in no order, as they come in life, and none twice.
        const ids = Array.from({ length: 2 * total }, (_, n) => first + n).sort((a, b) => shuffled(a) - shuffled(b));
        const one = await keepInFlight(1, total, (n) => match(idem, ids[n]!));
        const many = await keepInFlight(100, total, (n) => match(idem, ids[total + n]!));
        const missed = await keepInFlight(1, total, () => miss(idem));
        return { one, many, missed };
      };
      await add(idem, 0, few + 2 * total);
      const small = await measure(0);
      await add(idem, few + 2 * total, count + 2 * total);
      const large = await measure(few + 2 * total);
      return {
        p50Ms: large.one.p50Ms,
        p99Ms: large.one.p99Ms,
        perSecond: large.many.perSecond,
        missP50Ms: large.missed.p50Ms,
        missP99Ms: large.missed.p99Ms,
        fewP50Ms: small.one.p50Ms,
        fewP99Ms: small.one.p99Ms,
        fewPerSecond: small.many.perSecond,
      };
    }),
  );
}

// ---------------------------------------------------------------------------------------------------- crons

/**
 * So many functions with a schedule each, `due` of which come at every full minute; two of those are waited for. A tick is late by
 * the time from its instant to its run in the store, a run by the time to its first line of code.
 */
async function crons(count: number, due: number): Promise<Figure> {
  const elsewhere = new Date(Date.now() + 10 * 60_000).getUTCMinutes();
  const begun = new Map<number, number[]>();
  const define = (idem: Idem) => {
    for (let n = 0; n < count; n++) {
      const cron = n < due ? "* * * * *" : `${(elsewhere + (n % 40)) % 60} * * * *`;
      idem.createFunction({ id: `cron-${n}` }, { cron }, async ({ event, step }) => {
        begun.get(Date.parse(event.data.scheduledAt))?.push(Date.now());
        await step.run("work", () => 1);
      });
    }
  };
  const startedAt = performance.now();
  return onFreshFile((path) =>
    withIdem({ path }, define, async (idem) => {
      const startMs = performance.now() - startedAt;
      const ticked: number[] = [];
      const began: number[] = [];
      const { loop } = await withLoopDelay(async () => {
        for (let n = 0; n < 2; n++) {
          const tickAt = Math.ceil((Date.now() + 1_000) / 60_000) * 60_000;
          const mine: number[] = [];
          begun.set(tickAt, mine);
          // A run that has not begun by the next minute is not waited for: it is late by a minute.
          while (mine.length < due && Date.now() < tickAt + 58_000) await after(100);
          began.push(...mine.map((at) => at - tickAt), ...Array<number>(due - mine.length).fill(60_000));
          await idem.idle();
          ticked.push(...(await createdSince(idem, tickAt)).map((at) => at - tickAt));
        }
      });
      const [ticks, runs] = [Float64Array.from(ticked).sort(), Float64Array.from(began).sort()];
      return {
        startMs,
        ticks: ticks.length / 2,
        tickLateLastMs: quantile(ticks, 1),
        lateP50Ms: quantile(runs, 0.5),
        lateLastMs: quantile(runs, 1),
        loopDelayP99Ms: loop.p99Ms,
        loopDelayMaxMs: loop.maxMs,
      };
    }),
  );
}

async function createdSince(idem: Idem, at: number): Promise<number[]> {
  const found: number[] = [];
  let before: string | undefined;
  for (;;) {
    const page = await idem.runs.list({ limit: 1_000, ...(before === undefined ? {} : { before }) });
    const mine = page.filter(({ createdAt }) => createdAt >= at);
    found.push(...mine.map(({ createdAt }) => createdAt));
    if (mine.length < page.length || page.length === 0) return found;
    before = page.at(-1)!.id;
  }
}

// ---------------------------------------------------------------------------------------------------- the others

/** Events in, 100 calls at a time, and the runs that come of them. */
async function shaped(options: Omit<FunctionOptions, "id">, total: number, settleMs: number): Promise<Figure> {
  let runs = 0;
  let lastBeganAt = 0;
  const define = (idem: Idem) =>
    defineThreeSteps(idem, options, () => {
      runs++;
      lastBeganAt = performance.now();
    });
  return onFreshFile((path) =>
    withIdem({ path, runsInFlight }, define, async (idem) => {
      const startedAt = performance.now();
      const { perSecond } = await keepInFlight(100, total, (n) =>
        idem.send({ name: "bench/run", data: { n, k: keyOf(n) } }),
      );
      // Until nothing more comes of them: buffers and throttles end by time.
      for (let seen = -1; seen !== runs; ) {
        seen = runs;
        await after(settleMs);
        await idem.idle();
      }
      return { perSecond, runs, runsPerSecond: (runs / (lastBeganAt - startedAt)) * 1_000 };
    }),
  );
}

export const flowFigures: Figures = {
  plain: (s) => limited({}, scaled(40_000, s)),
  keys: (s) => limited(perKey, scaled(40_000, s)),
  "function-50": (s) => limited({ concurrency: 50 }, scaled(40_000, s)),
  "plain-backlog": (s) => backlog({}, scaled(20_000, s)),
  "keys-backlog": (s) => backlog(perKey, scaled(20_000, s)),
  "hot-key": (s) => hotKey(scaled(20_000, s)),
  waits: (s) => waits(scaled(100_000, s), scaled(1_000, s)),
  cancels: (s) => cancels(scaled(100_000, s), scaled(1_000, s)),
  "crons-at-once": (s) => crons(scaled(10_000, s), scaled(10_000, s)),
  "crons-spread": (s) => crons(scaled(10_000, s), 100),
  throttle: (s) => shaped({ throttle: { limit: 1_000, period: "1s", burst: 10 } }, scaled(10_000, s), 1_500),
  "rate-limit": (s) =>
    shaped({ rateLimit: { limit: 10, period: "1h", key: "event.data.k" } }, scaled(40_000, s), 1_000),
  debounce: (s) => shaped({ debounce: { period: "1s", key: "event.data.k" } }, scaled(40_000, s), 2_500),
  batch: (s) => shaped({ batchEvents: { maxSize: 100, timeout: "1s" } }, scaled(40_000, s), 2_500),
};
