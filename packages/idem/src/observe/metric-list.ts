// Every metric, described once: Prometheus reads it by one name, OpenTelemetry by the other, and docs/observability.md has the same table. Ours for Prometheus is
// made of the other as OpenTelemetry's specification makes it (https://opentelemetry.io/docs/specs/otel/compatibility/prometheus_and_openmetrics/), so
// that a collector in between changes no name.

export interface DescribedMetric {
  /** As OpenTelemetry calls it. */
  readonly name: string;
  readonly kind: "counter" | "histogram" | "gauge";
  /** By UCUM, as OpenTelemetry wants it; in braces what is counted. */
  readonly unit: "s" | "By" | "1" | `{${string}}`;
  readonly labels: readonly LabelName[];
  readonly help: string;
  /** Of a histogram, ascending. */
  readonly bounds?: readonly number[];
  /** Only a server has it. */
  readonly ofServer?: true;
}

/** Labels as attributes. */
export const metricAttributes = {
  env: "idem.env",
  kind: "idem.kind",
  layer: "idem.layer",
  state: "idem.run.state",
  outcome: "idem.outcome",
  function: "idem.function.id",
  source: "idem.webhook.source",
  key: "idem.event_key",
  quantile: "idem.quantile",
} as const;

export type LabelName = keyof typeof metricAttributes;

const stepSeconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
// A commit holds at most 300 calls (store/sqlite/thread-store.ts).
const commitSizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300];
// A tick that is found a minute late counts as missed (schedule/cron-ticks.ts); what policies start of those may be days late.
const lateSeconds = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 600, 3_600, 86_400];

export const metrics = {
  accepted: {
    name: "idem.events.accepted",
    kind: "counter",
    unit: "{event}",
    labels: ["env"],
    help: "Events that were stored, duplicates included",
  },
  decisions: {
    name: "idem.decisions",
    kind: "counter",
    unit: "{decision}",
    labels: ["env", "kind"],
    help: "Decisions, one per event and function; an event that waited counts again when it is decided",
  },
  suppressed: {
    name: "idem.suppressed_duplicates",
    kind: "counter",
    unit: "{duplicate}",
    labels: ["env", "layer"],
    help: "What came again and was recognised, by layer",
  },
  attempts: {
    name: "idem.attempts.failed",
    kind: "counter",
    unit: "{attempt}",
    labels: ["env"],
    help: "Attempts of steps that will be tried again",
  },
  ended: {
    name: "idem.runs.ended",
    kind: "counter",
    unit: "{run}",
    labels: ["env", "state"],
    help: "Runs that ended, by how they did",
  },
  ticks: {
    name: "idem.cron.ticks",
    kind: "counter",
    unit: "{tick}",
    labels: ["env", "kind"],
    help: "Ticks of schedules, by what was decided",
  },
  deliveries: {
    name: "idem.webhook.deliveries",
    kind: "counter",
    unit: "{delivery}",
    labels: ["env", "source", "kind"],
    help: "Webhooks that were delivered, by what became of them",
    ofServer: true,
  },
  late: {
    name: "idem.cron.late",
    kind: "histogram",
    unit: "s",
    labels: ["env"],
    help: "How long after its instant a tick's run was started",
    bounds: lateSeconds,
  },
  steps: {
    name: "idem.step",
    kind: "histogram",
    unit: "s",
    labels: ["env", "kind", "outcome"],
    help: "How long attempts took whose outcome was kept",
    bounds: stepSeconds,
  },
  commits: {
    name: "idem.commit.calls",
    kind: "histogram",
    unit: "{call}",
    labels: [],
    help: "Store calls per commit: how well group commit works",
    bounds: commitSizes,
  },
  runs: { name: "idem.runs", kind: "gauge", unit: "{run}", labels: ["env", "state"], help: "Open runs by state" },
  queueDepth: {
    name: "idem.queue.depth",
    kind: "gauge",
    unit: "{run}",
    labels: ["env"],
    help: "Runs that are due and that nobody has taken up",
  },
  queueOldest: {
    name: "idem.queue.oldest",
    kind: "gauge",
    unit: "s",
    labels: ["env"],
    help: "For how long the oldest of them has been due, runs in line for a limit included",
  },
  inLine: {
    name: "idem.runs.in_line",
    kind: "gauge",
    unit: "{run}",
    labels: ["env", "function"],
    help: "Runs of functions with concurrency or throttle that wait for their turn",
  },
  slots: {
    name: "idem.slots.in_use",
    kind: "gauge",
    unit: "{run}",
    labels: ["env", "function"],
    help: "Runs of such functions that are at work, and the steps beside others of their run that take a slot each",
  },
  pending: {
    name: "idem.events.pending",
    kind: "gauge",
    unit: "{event}",
    labels: ["env", "kind"],
    help: "Events that wait to be decided, by what keeps them; counted up to 100,000",
  },
  cronOverdue: {
    name: "idem.cron.overdue",
    kind: "gauge",
    unit: "s",
    labels: ["env"],
    help: "For how long the oldest tick has been due that nobody started",
  },
  loopDelay: {
    name: "idem.event_loop.delay",
    kind: "gauge",
    unit: "s",
    labels: ["quantile"],
    help: "How late the event loop came since the last look",
  },
  underWay: {
    name: "idem.http.under_way",
    kind: "gauge",
    unit: "{request}",
    labels: ["kind"],
    help: "Requests, bodies on their way, long polls, sockets, lines",
    ofServer: true,
  },
  bodyBytes: {
    name: "idem.http.body",
    kind: "gauge",
    unit: "By",
    labels: [],
    help: "Bytes of request bodies held",
    ofServer: true,
  },
  refusedBusy: {
    name: "idem.http.refused_busy",
    kind: "gauge",
    unit: "{request}",
    labels: [],
    help: "Requests answered with 503 since the start",
    ofServer: true,
  },
  cutSilent: {
    name: "idem.http.cut_silent",
    kind: "gauge",
    unit: "{line}",
    labels: [],
    help: "Silent lines and bodies cut for others since the start",
    ofServer: true,
  },
  quotaUsed: {
    name: "idem.event_quota.used",
    kind: "gauge",
    unit: "1",
    labels: ["env", "key", "kind"],
    help: "What part of its quota was sent with an event key in this window, the key by its place",
    ofServer: true,
  },
  quotaRefused: {
    name: "idem.event_quota.refused",
    kind: "gauge",
    unit: "{request}",
    labels: ["env", "key", "kind"],
    help: "Requests with an event key answered with 429 since the start, by what they were too many of",
    ofServer: true,
  },
} as const satisfies Record<string, DescribedMetric>;

export type MetricName = keyof typeof metrics;
export type NameOf<Kind extends DescribedMetric["kind"]> = {
  [Name in MetricName]: (typeof metrics)[Name]["kind"] extends Kind ? Name : never;
}[MetricName];
export type LabelsOf<Name extends MetricName> = Readonly<Record<(typeof metrics)[Name]["labels"][number], string>>;

/** As Prometheus reads it. */
export function prometheusName({ name, kind, unit }: DescribedMetric): string {
  const measured = { s: "_seconds", By: "_bytes", "1": "_ratio" }[unit as string] ?? "";
  return `${name.replaceAll(".", "_")}${measured}${kind === "counter" ? "_total" : ""}`;
}
