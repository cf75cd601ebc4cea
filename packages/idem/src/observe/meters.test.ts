// Against the real packages: the meter of OpenTelemetry, and its exporter for Prometheus.
import { readFileSync } from "node:fs";
import { metrics as metricsApi } from "@opentelemetry/api";
import { PrometheusSerializer } from "@opentelemetry/exporter-prometheus";
import {
  AggregationTemporality,
  InMemoryMetricExporter,
  MeterProvider,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";
import { expect, onTestFinished, test, vi } from "vitest";
import { registeredTelemetry } from "../platform/open-telemetry.ts";
import { Meters } from "./meters.ts";
import { type DescribedMetric, metricAttributes, metrics, type NameOf, prometheusName } from "./metric-list.ts";
import { tracedWorld } from "./recorded-spans.suite.ts";

const page = readFileSync(new URL("../../../../docs/observability.md", import.meta.url), "utf8");
const listed: readonly DescribedMetric[] = Object.values(metrics);

function recordMetrics() {
  const exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  const reader = new PeriodicExportingMetricReader({ exporter, exportIntervalMillis: 3_600_000 });
  const provider = new MeterProvider({ readers: [reader] });
  metricsApi.setGlobalMeterProvider(provider);
  onTestFinished(async () => {
    metricsApi.disable();
    await provider.shutdown();
  });
  return {
    reader,
    collect: async () => (await reader.collect()).resourceMetrics,
    /** `name{attributes}` and the value of each sample that was collected. */
    samples: async () => {
      const { resourceMetrics } = await reader.collect();
      return Object.fromEntries(
        resourceMetrics.scopeMetrics
          .flatMap(({ metrics: all }) => all)
          .flatMap(({ descriptor, dataPoints }) =>
            dataPoints.map(({ attributes, value }) => {
              const about = Object.values(attributes).join(",");
              return [`${descriptor.name}{${about}}`, typeof value === "object" ? value.count : value];
            }),
          ),
      );
    },
  };
}

const labelsOf = ({ labels }: DescribedMetric) => Object.fromEntries(labels.map((label) => [label, "x"]));

test("every metric has the name for Prometheus that OpenTelemetry's own exporter makes of it, with its unit", async () => {
  const { collect } = recordMetrics();
  const meters = new Meters({ openTelemetry: registeredTelemetry }, () => "1");
  meters.attach();
  for (const [name, of] of Object.entries(metrics) as [keyof typeof metrics, DescribedMetric][]) {
    const labels = labelsOf(of) as never;
    if (of.kind === "counter") meters.counter(name as NameOf<"counter">).inc(labels);
    else if (of.kind === "histogram") meters.histogram(name as NameOf<"histogram">).observe(labels, 1);
    else meters.gauge(name as NameOf<"gauge">, async () => [[labels, 1]]);
  }
  const typesOf = (text: string) => [...text.matchAll(/^# TYPE (idem_\w+ \w+)/gm)].map(([, typed]) => typed!).sort();
  const theirs = new PrometheusSerializer().serialize(await collect());
  expect(typesOf(await meters.text())).toEqual(listed.map((of) => `${prometheusName(of)} ${of.kind}`).sort());
  // The exporter of the JavaScript SDK leaves out the unit, which the specification wants.
  const withoutUnit = (typed: string) => typed.replace(/_(seconds|bytes|ratio) /, " ");
  expect(typesOf(theirs)).toEqual(
    typesOf(await meters.text())
      .map(withoutUnit)
      .sort(),
  );
  expect(theirs).toContain('idem_commit_calls_bucket{otel_scope_name="idem",otel_scope_version="1",le="300"} 1');
});

test("what an embedded engine counts is told to a meter and to Prometheus alike, from its opening on", async () => {
  const { samples, reader } = recordMetrics();
  const { client, settle, store } = tracedWorld();
  const idem = client();
  idem.createFunction({ id: "bill", idempotency: "event.data.order" }, { event: "order/paid" }, async ({ step }) => {
    await step.run("price", () => 10);
    await step.sleep("nap", "1h");
  });
  await idem.start();
  for (let i = 0; i < 2; i++) await idem.send({ name: "order/paid", data: { order: 7 } });
  await settle();
  const told = await samples();
  expect(told).toMatchObject({
    "idem.events.accepted{default}": 2,
    "idem.decisions{default,started}": 1,
    "idem.decisions{default,duplicate-key}": 1,
    "idem.suppressed_duplicates{default,function-key}": 1,
    "idem.step{default,run,value}": 1,
    "idem.runs{default,waiting}": 1,
    "idem.runs{default,parked}": 0,
  });
  const text = await idem.metrics();
  for (const line of [
    'idem_events_accepted_total{env="default"} 2',
    'idem_decisions_total{env="default",kind="duplicate-key"} 1',
    'idem_runs{env="default",state="waiting"} 1',
  ]) {
    expect(text.split("\n")).toContain(line);
  }
  await idem.stop();
  // Nobody asks the store of a client that is stopped.
  const asked = vi.spyOn(store.reads, "counts");
  expect((await reader.collect()).errors).toEqual([]);
  expect(asked).not.toHaveBeenCalled();
});

test("where nobody listens nothing is counted, and counting begins with the first who asks", async () => {
  const { client, settle } = tracedWorld();
  const idem = client();
  idem.createFunction({ id: "bill" }, { event: "order/paid" }, () => 1);
  await idem.start();
  await idem.send({ name: "order/paid", data: {} });
  await settle();
  expect(await idem.metrics()).not.toContain("idem_events_accepted_total{");
  await idem.send({ name: "order/paid", data: {} });
  await settle();
  const text = await idem.metrics();
  expect(text).toContain('idem_events_accepted_total{env="default"} 1\n');
  expect(text).toContain('idem_runs_ended_total{env="default",state="completed"} 1\n');
});

test("the page has every metric under both names", () => {
  const rows = listed.map((of) => {
    const labels = of.labels.map((label) => `\`${label}\``).join(" ");
    const help = of.ofServer === true ? `${of.help} (server)` : of.help;
    return `| \`${prometheusName(of)}\` | \`${of.name}\` | ${of.kind} | \`${of.unit}\` | ${labels} | ${help} |`;
  });
  const table = [
    "| Prometheus | OpenTelemetry | kind | unit | labels | says |",
    "| --- | --- | --- | --- | --- | --- |",
    ...rows,
  ];
  expect(page, `docs/observability.md should have this table:\n${table.join("\n")}\n`).toContain(table.join("\n"));
  const labels = Object.entries(metricAttributes).map(([label, name]) => `\`${label}\` is \`${name}\``);
  expect(page, `docs/observability.md should say: ${labels.join(", ")}`).toContain(labels.join(", "));
});
