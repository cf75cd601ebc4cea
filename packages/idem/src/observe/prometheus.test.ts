// Against the library most programs write their metrics with.
import fc from "fast-check";
import { Counter, Gauge, Histogram, Registry as TheirRegistry } from "prom-client";
import { expect, test } from "vitest";
import { Registry } from "./prometheus.ts";

const bounds = [0.5, 1, 10];
const label = fc.string({ unit: "binary", maxLength: 5 });
const number = fc.double({ min: 0, max: 100, noNaN: true }).map((value) => (Object.is(value, -0) ? 0 : value));

test("any counts, times and gauges, under any labels, are written as prom-client writes them", async () => {
  const series = fc.array(fc.tuple(label, label, number), { maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(series, fc.array(number, { maxLength: 4 }), async (given, plain) => {
      const ours = new Registry();
      const theirs = new TheirRegistry();
      const registers = [theirs];
      const labelNames = ["env", "kind"] as const;
      const counter = ours.counter("c_total", "Counts", labelNames);
      const timed = ours.histogram("t_seconds", "Times", { bounds, labelNames });
      const alone = ours.histogram("a", "Alone", { bounds });
      const theirCounter = new Counter({ name: "c_total", help: "Counts", labelNames, registers });
      const theirTimed = new Histogram({ name: "t_seconds", help: "Times", labelNames, buckets: bounds, registers });
      const theirAlone = new Histogram({ name: "a", help: "Alone", buckets: bounds, registers });
      const theirGauge = new Gauge({ name: "g", help: "Now", labelNames, registers });
      for (const [env, kind, value] of given) {
        counter.inc({ env, kind }, value);
        theirCounter.inc({ env, kind }, value);
        timed.observe({ env, kind }, value);
        theirTimed.observe({ env, kind }, value);
        theirGauge.set({ env, kind }, value);
      }
      for (const value of plain) {
        alone.observe({}, value);
        theirAlone.observe(value);
      }
      const last = new Map(given.map(([env, kind, value]) => [JSON.stringify([env, kind]), { env, kind, value }]));
      const read = async () => [...last.values()].map(({ env, kind, value }) => [{ env, kind }, value] as const);
      ours.gauge("g", "Now", { labelNames, read });
      expect(await ours.text()).toBe(await theirs.metrics());
    }),
    { numRuns: 200 },
  );
});

test("what was never counted is there as 0 when it has no labels, and not yet when it has", async () => {
  const registry = new Registry();
  registry.counter("plain_total", "Without", []);
  registry.counter("by_env_total", "With", ["env"]);
  expect(await registry.text()).toBe(
    "# HELP plain_total Without\n# TYPE plain_total counter\nplain_total 0\n\n# HELP by_env_total With\n# TYPE by_env_total counter\n",
  );
});
