// Metrics by their names in the list, each fed to both of their readers: Prometheus, when it asks, and the meter of OpenTelemetry, where one is registered.
import type { OpenTelemetry, OtelMeter, OtelObserving } from "../platform/open-telemetry.ts";
import type { Platform } from "../platform/platform.ts";
import {
  type DescribedMetric,
  type LabelName,
  type LabelsOf,
  metricAttributes,
  metrics,
  type NameOf,
  prometheusName,
} from "./metric-list.ts";
import { type Read, Registry } from "./prometheus.ts";

type Labels = Partial<Record<LabelName, string>>;

export class Meters {
  private readonly registry = new Registry();
  private readonly instruments: ((meter: OtelMeter) => void)[] = [];
  private readonly ends: (() => void)[] = [];
  /** Null until one is registered. */
  private meter: OtelMeter | null = null;

  constructor(
    private readonly platform: Pick<Platform, "openTelemetry">,
    private readonly version: () => string,
  ) {}

  counter<Name extends NameOf<"counter">>(name: Name): { inc(labels: LabelsOf<Name>, count?: number): void } {
    const of: DescribedMetric = metrics[name];
    const counter = this.registry.counter(prometheusName(of), of.help, of.labels);
    const told = this.instrument((meter) => meter.createCounter(of.name, describe(of)));
    return {
      inc: (labels, count = 1) => {
        counter.inc(labels as Record<LabelName, string>, count);
        told.now?.add(count, attributesOf(labels));
      },
    };
  }

  histogram<Name extends NameOf<"histogram">>(name: Name): { observe(labels: LabelsOf<Name>, value: number): void } {
    const of: DescribedMetric = metrics[name];
    const bounds = of.bounds!;
    const histogram = this.registry.histogram(prometheusName(of), of.help, { bounds, labelNames: of.labels });
    const advice = { explicitBucketBoundaries: [...bounds] };
    const told = this.instrument((meter) => meter.createHistogram(of.name, { ...describe(of), advice }));
    return {
      observe: (labels, value) => {
        histogram.observe(labels as Record<LabelName, string>, value);
        told.now?.record(value, attributesOf(labels));
      },
    };
  }

  /** Asked when somebody looks. */
  gauge<Name extends NameOf<"gauge">>(name: Name, read: Read<(typeof metrics)[Name]["labels"][number]>): void {
    const of: DescribedMetric = metrics[name];
    this.registry.gauge(prometheusName(of), of.help, { labelNames: of.labels, read: read as Read<LabelName> });
    this.instrument((meter) => {
      const gauge = meter.createObservableGauge(of.name, describe(of));
      const observe = async (to: OtelObserving) => {
        for (const [labels, value] of await read()) to.observe(value, attributesOf(labels));
      };
      gauge.addCallback(observe);
      this.ends.push(() => gauge.removeCallback(observe));
      return gauge;
    });
  }

  /** Where a meter is registered now, it gets what is counted from here on. */
  attach(): void {
    const found: OpenTelemetry["metrics"] = this.platform.openTelemetry?.()?.metrics;
    if (this.meter !== null || found === undefined) return;
    this.meter = found.getMeter("idem", this.version());
    for (const make of this.instruments) make(this.meter);
  }

  text(): Promise<string> {
    return this.registry.text();
  }

  /** Nobody asks any more. */
  close(): void {
    for (const end of this.ends.splice(0)) end();
  }

  private instrument<T>(make: (meter: OtelMeter) => T): { now: T | null } {
    const made: { now: T | null } = { now: null };
    const begin = (meter: OtelMeter) => {
      made.now = make(meter);
    };
    if (this.meter === null) this.instruments.push(begin);
    else begin(this.meter);
    return made;
  }
}

const describe = ({ help, unit }: DescribedMetric) => ({ description: help, unit });

const attributesOf = (labels: Labels): Record<string, string> =>
  Object.fromEntries(
    Object.entries(labels).flatMap(([label, value]) =>
      value === undefined ? [] : [[metricAttributes[label as LabelName], value]],
    ),
  );
