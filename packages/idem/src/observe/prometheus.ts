// Counters, histograms and gauges, and how Prometheus reads them (its text format, version 0.0.4). A series begins with its first number; one without
// labels is there from the start.

type Labels<L extends string> = Readonly<Record<L, string>>;
export type Read<L extends string> = () => Promise<readonly (readonly [Partial<Labels<L>>, number])[]>;

export const metricsType = "text/plain; version=0.0.4; charset=utf-8";

export class Registry {
  private readonly metrics: (() => Promise<string>)[] = [];

  counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    const counter = new Counter(name, labelNames);
    this.metrics.push(async () => written(name, help, "counter", counter.lines()));
    return counter;
  }

  histogram<L extends string = never>(
    name: string,
    help: string,
    { bounds, labelNames = [] }: { readonly bounds: readonly number[]; readonly labelNames?: readonly L[] },
  ): Histogram<L> {
    const histogram = new Histogram(name, labelNames, bounds);
    this.metrics.push(async () => written(name, help, "histogram", histogram.lines()));
    return histogram;
  }

  /** Asked when somebody looks. */
  gauge<L extends string>(
    name: string,
    help: string,
    { labelNames, read }: { readonly labelNames: readonly L[]; readonly read: Read<L> },
  ): void {
    const line = ([labels, value]: Awaited<ReturnType<Read<L>>>[number]): string =>
      `${name}${labelText(labelNames.map((label) => [label, labels[label]]))} ${value}`;
    this.metrics.push(async () => written(name, help, "gauge", (await read()).map(line)));
  }

  async text(): Promise<string> {
    return `${(await Promise.all(this.metrics.map((metric) => metric()))).join("\n\n")}\n`;
  }
}

/** One value for each set of labels; label values in the order of their names. */
class Series<L extends string, T> {
  private readonly byValues = new Map<string, { readonly labels: readonly [string, string][]; readonly at: T }>();

  constructor(
    private readonly labelNames: readonly L[],
    private readonly begin: () => T,
  ) {
    if (labelNames.length === 0) this.of({} as Labels<L>);
  }

  of(labels: Labels<L>): T {
    const values = this.labelNames.map((name) => labels[name]);
    const key = values.join("\u0000");
    const known = this.byValues.get(key);
    if (known !== undefined) return known.at;
    const at = this.begin();
    this.byValues.set(key, { labels: this.labelNames.map((name, i) => [name, values[i]!]), at });
    return at;
  }

  get all() {
    return [...this.byValues.values()];
  }
}

export class Counter<L extends string> {
  private readonly series: Series<L, { count: number }>;

  constructor(
    private readonly name: string,
    labelNames: readonly L[],
  ) {
    this.series = new Series(labelNames, () => ({ count: 0 }));
  }

  inc(labels: Labels<L>, count = 1): void {
    this.series.of(labels).count += count;
  }

  lines(): string[] {
    return this.series.all.map(({ labels, at }) => `${this.name}${labelText(labels)} ${at.count}`);
  }
}

export class Histogram<L extends string> {
  private readonly series: Series<L, { readonly counts: number[]; sum: number; count: number }>;

  constructor(
    private readonly name: string,
    labelNames: readonly L[],
    /** Ascending. */
    private readonly bounds: readonly number[],
  ) {
    this.series = new Series(labelNames, () => ({ counts: bounds.map(() => 0), sum: 0, count: 0 }));
  }

  observe(labels: Labels<L>, value: number): void {
    const at = this.series.of(labels);
    at.sum += value;
    at.count++;
    const bucket = this.bounds.findIndex((bound) => value <= bound);
    if (bucket !== -1) at.counts[bucket]!++;
  }

  lines(): string[] {
    const { name, bounds } = this;
    return this.series.all.flatMap(({ labels, at }) => {
      let below = 0;
      const buckets = bounds.map((bound, i) => {
        below += at.counts[i]!;
        return `${name}_bucket${labelText([["le", String(bound)], ...labels])} ${below}`;
      });
      return [
        ...buckets,
        `${name}_bucket${labelText([["le", "+Inf"], ...labels])} ${at.count}`,
        `${name}_sum${labelText(labels)} ${at.sum}`,
        `${name}_count${labelText(labels)} ${at.count}`,
      ];
    });
  }
}

const written = (name: string, help: string, type: string, lines: readonly string[]): string =>
  [`# HELP ${name} ${help}`, `# TYPE ${name} ${type}`, ...lines].join("\n");

function labelText(labels: readonly (readonly [string, string | undefined])[]): string {
  const pairs = labels.flatMap(([name, value]) => (value === undefined ? [] : `${name}="${escaped(value)}"`));
  return pairs.length === 0 ? "" : `{${pairs.join(",")}}`;
}

/** Names of functions and sources are people's own. */
const escaped = (text: string): string => text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll('"', '\\"');
