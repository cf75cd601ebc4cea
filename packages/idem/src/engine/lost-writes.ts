// Acknowledged writes that the store no longer has (store/history.ts says how that is known): what may be missing, which ids this process knows
// to be missing, the block in the log, and the alert that stays until an operator acknowledges it. Nothing is paused, repeated or repaired here.
//
//   a heartbeat found its row older, or gone ──▶ acknowledged ids are looked up ──▶ logged, alert raised
//   the server changed ──a heartbeat later──▶ reported by then? ──yes──▶ nothing
//                                                └──no──▶ acknowledged ids are looked up ──some are missing──▶ logged, alert raised
//                                                                                          └──none is──▶ nothing
import type { Platform, Timer } from "../platform/platform.ts";
import type { AlertPair } from "../store/alerts.ts";
import {
  type AcknowledgedWrites,
  boundIds,
  type HistoryReport,
  rollbackKind,
  type StoreHistory,
  type StoreRollback,
} from "../store/history.ts";
import type { Store } from "../store/store.ts";
import { limits } from "./limits.ts";
import { persist } from "./persist.ts";
import type { Telling } from "./telling.ts";

// As many as a busy process is acknowledged for in some seconds: 2 MB at most.
const idsMax = 10_000;
// Longer than any standby that is fit to take over is behind. Counted back from the last acknowledgement: while the store is away, nothing is
// forgotten.
const rememberedMs = 60_000;
const lookedUpAtOnce = 1_000;
// By then each process has had its heartbeat on the new server, which proves more.
const settledMs = limits.heartbeatMs + 2_000;
// What is found within this time after an incident belongs to it: clocks of two servers may differ.
const joinedMs = 60_000;
const idsInLog = 20;
const alertsMax = 1_000;
const prunesMax = 20;
const minuteMs = 60_000;

/** The writes that were acknowledged to this process last; the oldest give way. Costs a write into each of three lists. */
export class AcknowledgedIds {
  private readonly ids: string[] = [];
  private readonly times: number[] = [];
  private readonly areRuns: boolean[] = [];
  private next = 0;

  constructor(private readonly max = idsMax) {}

  events(events: readonly { readonly id: string }[], at: number): void {
    for (let i = 0; i < events.length; i++) this.add(events[i]!.id, at, false);
  }

  runEnd(id: string, at: number): void {
    this.add(id, at, true);
  }

  private add(id: string, at: number, isRun: boolean): void {
    this.ids[this.next] = id;
    this.times[this.next] = at;
    this.areRuns[this.next] = isRun;
    this.next = this.next + 1 === this.max ? 0 : this.next + 1;
  }

  /** In the order of their times. */
  list(): readonly AcknowledgedId[] {
    const all = this.ids.map((id, i) => ({ id, at: this.times[i]!, isRun: this.areRuns[i]! }));
    const newest = all.reduce((latest, { at }) => Math.max(latest, at), 0);
    return all.filter(({ at }) => at >= newest - rememberedMs).sort((a, b) => a.at - b.at);
  }
}

export interface AcknowledgedId {
  readonly id: string;
  readonly at: number;
  readonly isRun: boolean;
}

export interface LostWritesOptions {
  readonly history: StoreHistory;
  readonly store: Pick<Store, "raise" | "reads">;
  readonly env: string;
  /** This process among the nodes. */
  readonly node: string;
  readonly platform: Pick<Platform, "timer">;
  /** By the store's clock. */
  readonly now: () => number;
  readonly newId: () => string;
  readonly telling: Telling;
}

/** Incidents that were logged, by store: engines of one process over it write one block, unless they know more. */
const logged = new WeakMap<StoreHistory, Set<string>>();

export class LostWrites {
  readonly acknowledged = new AcknowledgedIds();
  private readonly unsubscribe: () => void;
  /** Reports are handled one after the other: the second one of an incident finds the first. */
  private handling: Promise<void> = Promise.resolve();
  private settling: Timer | null = null;
  private last: StoreRollback | null = null;
  private isOver = false;

  constructor(private readonly options: LostWritesOptions) {
    this.unsubscribe = options.history.subscribe((report) => this.take(report));
  }

  stop(): void {
    this.isOver = true;
    this.unsubscribe();
    this.settling?.cancel();
  }

  /** Resolves once what was reported is in the log and among the alerts. */
  idle(): Promise<void> {
    return this.handling;
  }

  private take(report: HistoryReport): void {
    if (report.kind === "rollback") this.handle(() => this.report(report.rollback));
    else if (report.kind === "server-changed") {
      this.settling?.cancel();
      const look = () => this.handle(() => this.lookUp(report.server));
      this.settling = this.options.platform.timer(settledMs, look, { background: true });
    }
  }

  private handle(act: () => Promise<void>): void {
    this.handling = this.handling.then(act).catch((error: unknown) => {
      const { telling } = this.options;
      if (!this.isOver) telling.logger.error("idem: reporting that the store lost acknowledged writes failed", error);
    });
  }

  /** Another server answers, and no heartbeat was found missing: it may have lost less than lies between two of them. */
  private async lookUp(server: string): Promise<void> {
    if (this.isOver || this.last?.server === server) return;
    const { store } = this.options;
    const missing = await this.missing();
    const first = missing[0];
    if (first === undefined) return;
    const known = this.acknowledged.list();
    const survived = known.slice(
      0,
      known.findIndex(({ id }) => id === first.id),
    );
    const foundAt = await store.reads.now();
    const rollback = {
      server,
      proof: first.id,
      survivedAt: survived.at(-1)?.at ?? null,
      firstAt: first.at,
      acknowledgedAt: missing.at(-1)!.at,
      foundAt,
    };
    await this.raise(rollback, missing);
  }

  private async report(rollback: StoreRollback): Promise<void> {
    if (this.isOver) return;
    // Whatever else can be said: that writes are lost is known.
    const missing = await this.missing().catch(() => null);
    await this.raise(rollback, missing);
  }

  /** Of the acknowledged ids those that the store lost. What retention or an operator may have deleted since proves nothing. */
  private async missing(): Promise<AcknowledgedId[]> {
    const { history, store, env, now } = this.options;
    const known = this.acknowledged.list();
    const lost = new Set<string>();
    for (let from = 0; from < known.length; from += lookedUpAtOnce) {
      const part = known.slice(from, from + lookedUpAtOnce);
      const found: AcknowledgedWrites = await history.missing(env, {
        events: part.filter(({ isRun }) => !isRun).map(({ id }) => id),
        runs: part.filter(({ isRun }) => isRun).map(({ id }) => id),
      });
      for (const id of [...found.events, ...found.runs]) lost.add(id);
    }
    if (lost.size === 0) return [];
    const pruned = await store.reads.auditPage(env, { action: "prune-history", limit: prunesMax });
    const prunedBefore = Math.max(
      now() - limits.retentionMsMin + minuteMs,
      ...pruned.rows.map(({ subject }) => Date.parse(subject)),
    );
    return known.filter(({ id, at }) => lost.has(id) && at >= prunedBefore);
  }

  private async raise(rollback: StoreRollback, missing: readonly AcknowledgedId[] | null): Promise<void> {
    const { store, env, newId, node, platform } = this.options;
    const isSame = this.last !== null && isJoined(rollback, this.last);
    if (!isSame) this.log(rollback, missing);
    this.last = isSame ? { ...rollback, foundAt: Math.max(rollback.foundAt, this.last!.foundAt) } : rollback;
    const { survived, acknowledged } = boundIds(rollback.proof);
    const pairOf = (laterId: string, entity: string, at: number): AlertPair => ({
      entity: JSON.stringify(entity),
      firstId: null,
      laterId,
      at,
    });
    const pairs = [
      pairOf(survived, node, rollback.survivedAt ?? rollback.firstAt),
      pairOf(acknowledged, node, rollback.acknowledgedAt),
      ...(missing ?? []).map(({ id, at, isRun }) => pairOf(id, isRun ? "run end" : "event", at)),
    ];
    const facts = JSON.stringify({ of: "event", cause: "failover", foundAt: rollback.foundAt });
    const id = newId();
    await persist(
      platform,
      async () => {
        const about = await this.incidentOf(rollback);
        return store.raise({
          env,
          alerts: [{ id, kind: rollbackKind, fn: "", about, subject: "the store", facts, pairs }],
        });
      },
      () => !this.isOver,
    );
  }

  /**
   * The name of the incident, by which processes that found the same one join one alert: the server's, and a number where the same server
   * lost writes before, which were found by then.
   */
  private async incidentOf(rollback: StoreRollback): Promise<string> {
    const { store, env } = this.options;
    const { server } = rollback;
    const before = (await store.reads.alerts(env, { fn: "", limit: alertsMax })).filter(
      ({ kind, about }) => kind === rollbackKind && (about === server || about.startsWith(`${server} #`)),
    );
    const same = before.find(({ facts }) => {
      const { foundAt } = JSON.parse(facts) as { readonly foundAt: number };
      return isJoined(rollback, { server, foundAt });
    });
    if (same !== undefined) return same.about;
    const numbers = before.map(({ about }) => Number(about.split(" #")[1] ?? 1));
    return numbers.length === 0 ? server : `${server} #${Math.max(...numbers) + 1}`;
  }

  private log(rollback: StoreRollback, missing: readonly AcknowledgedId[] | null): void {
    const { history, telling, env } = this.options;
    const said = logged.get(history) ?? new Set();
    logged.set(history, said);
    const incident = `${rollback.server} ${Math.floor(rollback.foundAt / joinedMs)}`;
    const { survivedAt: from, acknowledgedAt: to } = rollback;
    if (!said.has(incident) || (missing?.length ?? 0) > 0) telling.logger.error(rollbackText(env, rollback, missing));
    said.add(incident);
    telling.tell({ kind: "store.rolled-back", env, from, to, missing: missing?.map(({ id }) => id) ?? [] });
  }
}

/** Whether a finding is of an incident that was found before: what the one lost was acknowledged before the other was found. */
const isJoined = (found: StoreRollback, before: Pick<StoreRollback, "server" | "foundAt">): boolean =>
  found.server === before.server && found.acknowledgedAt <= before.foundAt + joinedMs;

function rollbackText(env: string, rollback: StoreRollback, missing: readonly AcknowledgedId[] | null): string {
  const { survivedAt, firstAt, acknowledgedAt } = rollback;
  const instant = (ms: number) => new Date(ms).toISOString();
  const from =
    survivedAt === null
      ? `before ${instant(firstAt)}: nothing that this process was acknowledged for is left`
      : instant(survivedAt);
  return [
    "idem: The store lost acknowledged writes: it went back in time, as after a failover to a standby that was behind, or a restore.",
    `  May be missing, of every node: what was acknowledged from ${from} to ${instant(acknowledgedAt)}.`,
    `  Known to be missing, of this process in environment "${env}": ${missingText(missing)}`,
    "  Nothing was paused. Senders that repeat lost events start their runs again; recorded steps that were lost run again.",
    "  The alert is in idem radar and idem doctor until an operator acknowledges it (docs/operations.md#lost-commits).",
  ].join("\n");
}

function missingText(missing: readonly AcknowledgedId[] | null): string {
  if (missing === null) return "unknown, the acknowledged ids could not be looked up.";
  const runs = missing.filter(({ isRun }) => isRun).length;
  const events = missing.length - runs;
  const counts = `${events} ${events === 1 ? "event" : "events"} and ${runs} ${runs === 1 ? "run end" : "run ends"}`;
  if (missing.length === 0) return `${counts}, of those acknowledged in its last minute.`;
  const more = missing.length > idsInLog ? `, and ${missing.length - idsInLog} more` : "";
  const ids = missing.slice(0, idsInLog).map(({ id, isRun }) => `${isRun ? "run end" : "event"} ${id}`);
  return `${counts}: ${ids.join(", ")}${more}.`;
}
