// What Prometheus reads at /metrics. Counters follow what the store committed (observe/observed-store.ts); queues are asked
// of the store when somebody looks.
import type { Engine } from "../engine/engine.ts";
import { needsLane } from "../flow/lane.ts";
import { nextTick } from "../model/cron.ts";
import { pendingKinds } from "../model/decision.ts";
import type { StoreObserver } from "../observe/observed-store.ts";
import type { LoopWatch, Platform } from "../platform/platform.ts";
import type { OpenCounts, StoreCounts } from "../store/reads.ts";
import { type QuotaKind, type QuotaUse, quotaKinds } from "./event-quota.ts";
import type { ListenerLoad } from "./node-listener.ts";
import { type Counter, metricsType, type Read, Registry } from "./prometheus.ts";
import type { World } from "./world.ts";

const stepSeconds = [0.001, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 300];
// A commit holds at most 300 calls (store/sqlite/thread-store.ts).
const commitSizes = [1, 2, 4, 8, 16, 32, 64, 128, 256, 300];
// A tick that is found a minute late counts as missed (schedule/cron-ticks.ts); what policies start of those may be days late.
const lateSeconds = [0.01, 0.05, 0.1, 0.5, 1, 5, 15, 60, 600, 3_600, 86_400];

export class Metrics {
  private readonly registry = new Registry();
  private readonly loop: LoopWatch | null;
  private readonly counters = {
    accepted: this.counter("idem_events_accepted_total", "Events that were stored, duplicates included", ["env"]),
    decisions: this.counter("idem_decisions_total", "Decisions, one per event and function", ["env", "kind"]),
    suppressed: this.counter("idem_suppressed_duplicates_total", "What came again and was recognised, by layer", [
      "env",
      "layer",
    ]),
    attempts: this.counter("idem_attempts_failed_total", "Attempts of steps that will be tried again", ["env"]),
    runs: this.counter("idem_runs_ended_total", "Runs that ended, by how they did", ["env", "state"]),
    deliveries: this.counter("idem_webhook_deliveries_total", "Webhooks that were delivered, by what became of them", [
      "env",
      "source",
      "kind",
    ]),
    ticks: this.counter("idem_cron_ticks_total", "Ticks of schedules, by what was decided", ["env", "kind"]),
  };
  private readonly steps = this.registry.histogram(
    "idem_step_seconds",
    "How long attempts took whose outcome was kept",
    {
      bounds: stepSeconds,
      labelNames: ["env", "kind", "outcome"],
    },
  );
  private readonly commits = this.registry.histogram("idem_commit_calls", "Store calls per commit", {
    bounds: commitSizes,
  });
  private readonly late = this.registry.histogram(
    "idem_cron_late_seconds",
    "How long after its instant a tick's run was started",
    { bounds: lateSeconds, labelNames: ["env"] },
  );
  /** Asked once for all that is read from it. */
  private readonly counted = new Map<string, Promise<StoreCounts>>();

  constructor(platform: Pick<Platform, "watchLoop">) {
    this.loop = platform.watchLoop?.() ?? null;
  }

  private counter<L extends string>(name: string, help: string, labelNames: readonly L[]): Counter<L> {
    return this.registry.counter(name, help, labelNames);
  }

  /** What the store tells about its commits. */
  readonly observer: StoreObserver = {
    accepted: (env, count) => this.counters.accepted.inc({ env }, count),
    decided: (env, kind, count) => this.counters.decisions.inc({ env, kind }, count),
    suppressed: (env, layer) => this.counters.suppressed.inc({ env, layer }),
    stepEnded: (env, { kind, startedAt, endedAt }, isError) =>
      this.steps.observe({ env, kind, outcome: isError ? "error" : "value" }, Math.max(0, endedAt - startedAt) / 1_000),
    attemptFailed: (env) => this.counters.attempts.inc({ env }),
    runEnded: (env, _, state) => this.counters.runs.inc({ env, state }),
    ticked: (env, kind, lateMs) => {
      this.counters.ticks.inc({ env, kind });
      if (kind === "started") this.late.observe({ env }, lateMs / 1_000);
    },
  };

  delivered(env: string, source: string, kind: string): void {
    this.counters.deliveries.inc({ env, source, kind });
  }

  committed(calls: number): void {
    this.commits.observe({}, calls);
  }

  /** What is asked for when somebody looks. */
  watch(world: World, load: () => ListenerLoad): void {
    const gauge = <L extends string>(name: string, help: string, labelNames: readonly L[], read: Read<L>) =>
      this.registry.gauge(name, help, { labelNames, read });
    const perEnv =
      <T>(read: (env: string) => Promise<T>, show: (env: string, read: T) => [Record<string, string>, number][]) =>
      async () =>
        (await Promise.all([...world.engines.keys()].map(async (env) => show(env, await read(env))))).flat();
    const readsOf = (env: string) => world.engines.get(env)!.store.reads;
    const countsOf = (env: string) => {
      const known = this.counted.get(env) ?? readsOf(env).counts(env);
      this.counted.set(env, known);
      return known;
    };
    const ofLimited = (show: (open: OpenCounts) => number) =>
      perEnv(countsOf, (env, { byFunction }) =>
        world.engines
          .get(env)!
          .registry.all.filter(({ config }) => needsLane(config))
          .map(({ fn }) => [{ env, function: fn }, byFunction[fn] === undefined ? 0 : show(byFunction[fn])]),
      );
    gauge(
      "idem_runs",
      "Open runs by state",
      ["env", "state"],
      perEnv(countsOf, (env, { queued, running, waiting }) =>
        Object.entries({ queued, running, waiting }).map(([state, count]) => [{ env, state }, count]),
      ),
    );
    gauge(
      "idem_queue_depth",
      "Runs that are due and that nobody has taken up",
      ["env"],
      perEnv(countsOf, (env, { dueByFunction }) => [
        [{ env }, Object.values(dueByFunction).reduce((sum, due) => sum + due, 0)],
      ]),
    );
    gauge(
      "idem_queue_oldest_seconds",
      "For how long the oldest of them has been due",
      ["env"],
      perEnv(
        (env) => readsOf(env).oldestDue(env),
        (env, since) => {
          const now = world.engines.get(env)!.now();
          return [[{ env }, since === null ? 0 : Math.max(0, now - since) / 1_000]];
        },
      ),
    );
    gauge(
      "idem_runs_in_line",
      "Runs of functions with concurrency or throttle that wait for their turn",
      ["env", "function"],
      ofLimited(({ queued }) => queued),
    );
    gauge(
      "idem_slots_in_use",
      "Runs of such functions that are at work",
      ["env", "function"],
      ofLimited(({ running }) => running),
    );
    gauge(
      "idem_events_pending",
      "Events that wait to be decided, by what keeps them",
      ["env", "kind"],
      perEnv(
        (env) => readsOf(env).pendingCounts(env),
        (env, counts) => pendingKinds.map((kind) => [{ env, kind }, counts[kind] ?? 0]),
      ),
    );
    gauge(
      "idem_cron_overdue_seconds",
      "For how long the oldest tick has been due that nobody started",
      ["env"],
      perEnv(
        (env) => overdueMs(world.engines.get(env)!),
        (env, ms) => [[{ env }, ms / 1_000]],
      ),
    );
    gauge("idem_http_under_way", "Requests, bodies on their way, long polls, sockets, lines", ["kind"], async () => {
      const { requestsInFlight, bodiesAwaited, waitingRequests, sockets, lines } = load();
      return [
        [{ kind: "request" }, requestsInFlight],
        [{ kind: "body" }, bodiesAwaited],
        [{ kind: "line" }, lines],
        [{ kind: "waiting" }, waitingRequests],
        [{ kind: "socket" }, sockets],
      ];
    });
    const ofKeys = (show: (use: QuotaUse, kind: QuotaKind) => number) => async () =>
      (world.eventQuotas?.uses() ?? []).flatMap((use) =>
        quotaKinds.map((kind) => [{ env: use.env, key: `${use.place}`, kind }, show(use, kind)] as const),
      );
    gauge(
      "idem_event_quota_used_ratio",
      "What part of its quota was sent with an event key in this window, the key by its place",
      ["env", "key", "kind"],
      ofKeys(({ used }, kind) => used[kind] / world.eventQuotas!.quota[kind]),
    );
    gauge(
      "idem_event_quota_refused",
      "Requests with an event key answered with 429 since the start, by what they were too many of",
      ["env", "key", "kind"],
      ofKeys(({ refused }, kind) => refused[kind]),
    );
    gauge("idem_http_body_bytes", "Bytes of request bodies held", [], async () => [[{}, load().bodyBytesHeld]]);
    gauge("idem_http_refused_busy", "Requests answered with 503 since the start", [], async () => [
      [{}, load().refusedBusy],
    ]);
    gauge("idem_http_cut_silent", "Silent lines cut for others since the start", [], async () => [
      [{}, load().cutSilent],
    ]);
    const { loop } = this;
    if (loop === null) return;
    gauge(
      "idem_event_loop_delay_seconds",
      "How late the event loop came since the last look",
      ["quantile"],
      async () => {
        const { p50Ms, p99Ms, maxMs } = loop.read();
        return [
          [{ quantile: "0.5" }, p50Ms / 1_000],
          [{ quantile: "0.99" }, p99Ms / 1_000],
          [{ quantile: "1" }, maxMs / 1_000],
        ];
      },
    );
  }

  get contentType(): string {
    return metricsType;
  }

  /** `onlyEnv`: for whoever may hear of one environment, its samples and those of the process itself. */
  async text(onlyEnv: string | null): Promise<string> {
    this.counted.clear();
    const text = await this.registry.text();
    return onlyEnv === null ? text : ofEnvironment(text, onlyEnv);
  }

  close(): void {
    this.loop?.stop();
  }
}

/** A quote inside of a label's value has a backslash before it, so this is the label and nothing that somebody called so. */
const envLabel = /[{,]env="([^"]*)"/;

const ofEnvironment = (text: string, env: string): string =>
  text
    .split("\n")
    .filter((line) => (envLabel.exec(line)?.[1] ?? env) === env)
    .join("\n");

async function overdueMs(engine: Engine): Promise<number> {
  const { store, env, registry } = engine;
  if (!registry.all.some(({ config }) => config.triggers.some((trigger) => "cron" in trigger))) return 0;
  let oldest = Number.POSITIVE_INFINITY;
  for (const { fn, cron, lastTickAt } of await store.reads.crons(env)) {
    if (registry.get(fn) !== null) oldest = Math.min(oldest, nextTick(cron, lastTickAt) ?? oldest);
  }
  return Math.max(0, engine.now() - oldest);
}
