// npm run bench:traced [-- --scale 0.1] [--before <an earlier checkout>/packages/idem/modules]
// The cost of watching: the same runs where nobody listens, where a provider records and exports every span, and where a meter gets every count; and with
// --before, as an earlier build does them. In turn, in one run on one machine: only the ratios count.
import { parseArgs } from "node:util";
import { metrics } from "@opentelemetry/api";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { BatchSpanProcessor, type SpanExporter } from "@opentelemetry/sdk-trace-base";
import { NodeTracerProvider } from "@opentelemetry/sdk-trace-node";
import { describeMachine } from "./machine.ts";
import { type Figure, type Figures, printRows, type Row, round, takeAll, takeOne } from "./take-figures.ts";

const { values } = parseArgs({
  options: {
    scale: { type: "string", default: "1" },
    figure: { type: "string" },
    before: { type: "string" },
    turns: { type: "string", default: "5" },
  },
});
const scale = Number(values.scale);

const runs = async (): Promise<Figure> => {
  // Loaded once it is said which build.
  const { figures } = await import("./figures.ts");
  return figures["engine-100"]!(scale);
};

/** Takes everything and keeps nothing: what is measured is Idem and the SDK, not a network. */
const taking: SpanExporter = {
  export: (_, done) => done({ code: 0 }),
  shutdown: async () => {},
};

const taken: Figures = {
  before: () => {
    process.env.IDEM_MODULES = process.env.IDEM_BEFORE!;
    return runs();
  },
  unwatched: runs,
  traced: () => {
    const batch = new BatchSpanProcessor(taking, { maxQueueSize: 1_000_000 });
    new NodeTracerProvider({ spanProcessors: [batch] }).register();
    return runs();
  },
  counted: () => {
    const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
    const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 5_000 });
    metrics.setGlobalMeterProvider(new MeterProvider({ readers: [reader] }));
    return runs();
  },
};
if (values.figure !== undefined) await takeOne(taken, values.figure, scale);

if (values.before !== undefined) process.env.IDEM_BEFORE = values.before;
const names = Object.keys(taken).filter((name) => name !== "before" || values.before !== undefined);
const all = takeAll(import.meta.url, Array.from({ length: Number(values.turns) }, () => names).flat(), scale);

const middle = (name: string): number => {
  const sorted = (all[name] ?? []).map(({ perSecond }) => perSecond!).sort((a, b) => a - b);
  return sorted[Math.floor(sorted.length / 2)] ?? Number.NaN;
};
const rows: Row[] = names.map((name) => {
  const of = name === "unwatched" ? "before" : "unwatched";
  const isKnown = names.includes(of) && name !== "before";
  const aim = name === "unwatched" ? " (aim ≥ 0.97)" : "";
  return [
    `runs/s, ${name}`,
    round(middle(name)),
    isKnown ? `${(middle(name) / middle(of)).toFixed(2)} of ${of}${aim}` : "",
  ];
});
const { cpu, cores, memoryGb, node, commit, takenAt } = describeMachine();
console.log(`\n${cpu}, ${cores} cores, ${memoryGb} GB, Node ${node}, ${commit}, ${takenAt}\n`);
printRows(rows);
