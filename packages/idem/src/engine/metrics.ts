// The counts of a process: of its store's commits (observe/observed-store.ts), and of queues, which the store is asked for at each look.
import { needsLane } from "../flow/lane.ts";
import { nextTick } from "../model/cron.ts";
import { pendingKinds } from "../model/decision.ts";
import { Meters } from "../observe/meters.ts";
import type { StoreObserver } from "../observe/observed-store.ts";
import { metricsType } from "../observe/prometheus.ts";
import { packageVersion } from "../platform/package-files.ts";
import type { LoopWatch, Platform } from "../platform/platform.ts";
import type { OpenSlots, StoreCounts } from "../store/reads.ts";
import type { Engine } from "./engine.ts";

type Engines = () => ReadonlyMap<string, Engine>;

export class Metrics {
  readonly meters: Meters;
  private readonly loop: LoopWatch | null;
  private readonly accepted;
  private readonly decisions;
  private readonly suppressed;
  private readonly attempts;
  private readonly ended;
  private readonly ticks;
  private readonly deliveries;
  private readonly late;
  private readonly steps;
  private readonly commits;
  /** Asked once for all that is read from it. */
  private readonly counted = new Map<string, Promise<StoreCounts>>();

  constructor(platform: Pick<Platform, "watchLoop" | "openTelemetry">, engines: Engines) {
    const meters = new Meters(platform, packageVersion);
    this.meters = meters;
    this.loop = platform.watchLoop?.() ?? null;
    this.accepted = meters.counter("accepted");
    this.decisions = meters.counter("decisions");
    this.suppressed = meters.counter("suppressed");
    this.attempts = meters.counter("attempts");
    this.ended = meters.counter("ended");
    this.ticks = meters.counter("ticks");
    this.deliveries = meters.counter("deliveries");
    this.late = meters.histogram("late");
    this.steps = meters.histogram("steps");
    this.commits = meters.histogram("commits");
    this.watch(engines);
    this.watchLoop();
    meters.attach();
  }

  /** Counts the store's commits. */
  readonly observer: Omit<StoreObserver, "touched"> = {
    accepted: (env, count) => this.accepted.inc({ env }, count),
    decided: (env, kind, count) => this.decisions.inc({ env, kind }, count),
    suppressed: (env, layer) => this.suppressed.inc({ env, layer }),
    stepEnded: (env, { kind, startedAt, endedAt }, isError) =>
      this.steps.observe({ env, kind, outcome: isError ? "error" : "value" }, Math.max(0, endedAt - startedAt) / 1_000),
    attemptFailed: (env) => this.attempts.inc({ env }),
    runEnded: (env, _, state) => this.ended.inc({ env, state }),
    ticked: (env, kind, lateMs) => {
      this.ticks.inc({ env, kind });
      if (kind === "started") this.late.observe({ env }, lateMs / 1_000);
    },
  };

  delivered(env: string, source: string, kind: string): void {
    this.deliveries.inc({ env, source, kind });
  }

  committed(calls: number): void {
    this.commits.observe({}, calls);
  }

  private watch(engines: Engines): void {
    const { meters } = this;
    const perEnv =
      <T, L extends string>(
        read: (env: string) => Promise<T>,
        show: (env: string, read: T) => [Partial<Record<L, string>>, number][],
      ) =>
      async () =>
        (await Promise.all([...engines().keys()].map(async (env) => show(env, await read(env))))).flat();
    const engineOf = (env: string) => engines().get(env)!;
    const readsOf = (env: string) => engineOf(env).store.reads;
    const countsOf = (env: string) => {
      const known = this.counted.get(env);
      if (known !== undefined) return known;
      const asked = readsOf(env).counts(env);
      this.counted.set(env, asked);
      const forget = () => void this.counted.delete(env);
      asked.then(forget, forget);
      return asked;
    };
    const ofLimited = (show: (open: OpenSlots) => number) =>
      perEnv(countsOf, (env, { byFunction }) =>
        engineOf(env)
          .registry.all.filter(({ config }) => needsLane(config))
          .map(({ fn }) => [{ env, function: fn }, byFunction[fn] === undefined ? 0 : show(byFunction[fn])]),
      );
    meters.gauge(
      "runs",
      perEnv(countsOf, (env, { queued, running, waiting, parked }) =>
        Object.entries({ queued, running, waiting, parked }).map(([state, count]) => [{ env, state }, count]),
      ),
    );
    meters.gauge(
      "queueDepth",
      perEnv(countsOf, (env, { dueByFunction }) => [
        [{ env }, Object.values(dueByFunction).reduce((sum, due) => sum + due, 0)],
      ]),
    );
    meters.gauge(
      "queueOldest",
      perEnv(
        (env) => readsOf(env).oldestDue(env),
        (env, since) => [[{ env }, since === null ? 0 : Math.max(0, engineOf(env).now() - since) / 1_000]],
      ),
    );
    meters.gauge(
      "inLine",
      ofLimited(({ queued }) => queued),
    );
    meters.gauge(
      "slots",
      ofLimited(({ running, beside1, beside2 }) => running + Math.max(beside1, beside2)),
    );
    meters.gauge(
      "pending",
      perEnv(
        (env) => readsOf(env).pendingCounts(env),
        (env, counts) => pendingKinds.map((kind) => [{ env, kind }, counts[kind] ?? 0]),
      ),
    );
    meters.gauge(
      "cronOverdue",
      perEnv(
        (env) => overdueMs(engineOf(env)),
        (env, ms) => [[{ env }, ms / 1_000]],
      ),
    );
  }

  private watchLoop(): void {
    const { loop } = this;
    if (loop === null) return;
    this.meters.gauge("loopDelay", async () => {
      const { p50Ms, p99Ms, maxMs } = loop.read();
      return [
        [{ quantile: "0.5" }, p50Ms / 1_000],
        [{ quantile: "0.99" }, p99Ms / 1_000],
        [{ quantile: "1" }, maxMs / 1_000],
      ];
    });
  }

  get contentType(): string {
    return metricsType;
  }

  /** `onlyEnv`: for a reader of one environment, its samples and those of the process itself. */
  async text(onlyEnv: string | null): Promise<string> {
    const text = await this.meters.text();
    return onlyEnv === null ? text : ofEnvironment(text, onlyEnv);
  }

  close(): void {
    this.loop?.stop();
    this.meters.close();
  }
}

/** A quote inside of a label's value has a backslash before it, so this is the label and never a part of a value. */
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
