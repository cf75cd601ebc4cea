// Live news for open pages: at most two digests a second for each environment, with counts, the groups that changed and the alerts there
// are, and whether functions were registered. Costs nothing while nobody listens: commits are noted only then. Commits of other processes
// are found by looking, once a second. A digest that is lost loses nothing: a page reads again what it shows.
import { errors } from "../../model/errors.ts";
import type { StoreObserver } from "../../observe/observed-store.ts";
import type { Platform, Timer } from "../../platform/platform.ts";
import type { StoreReads } from "../../store/reads.ts";
import type { Actor } from "../people/actor.ts";
import type { LiveDigest } from "./digest-shape.ts";

/** A listener's line. */
export interface LiveLine {
  events(bytes: Buffer, sent: () => void): void;
  /** False when the last one was not read in all that time. */
  ping(): boolean;
  close(reason: string): Promise<void>;
}

export interface LiveStore {
  readonly reads: StoreReads;
  /** Others may write to it. */
  readonly isShared: boolean;
  now(): number;
  /** Of the functions, as this process last saw them: asking costs nothing. */
  registration(): number;
  /** The name people know a function by. */
  fullName(fn: string): string;
}

const digestMs = 500;
const lookMs = 1_000;
export const heartbeatMs = 15_000;
/** More become counts only. */
export const changedMax = 100;
// Each is a socket and a few kilobytes.
export const listenersMax = 200;
// Of them, pages of one caller; a proxy may sign in for a whole team.
export const listenersPerPrincipalMax = 50;
// Of them, viewers': the others stay for those who may have to act.
export const viewerListenersMax = 150;
const alertsTold = 10;

/** Who listens. */
export type ListeningActor = Pick<Actor, "name" | "role">;

interface Listener {
  readonly env: string;
  readonly hub: Hub;
  readonly actor: ListeningActor;
  readonly line: LiveLine;
  /** The last digest is still waiting to be read: what comes meanwhile is said to be more. */
  isBehind: boolean;
  hasMissed: boolean;
}

interface Counts {
  accepted: number;
  started: number;
  suppressed: number;
  ended: number;
  failed: number;
}

class Hub {
  readonly listeners = new Set<Listener>();
  readonly changed = new Set<string>();
  counts = none();
  isDirty = true;
  sentAt = Number.NEGATIVE_INFINITY;
  timer: Timer | null = null;
  looking: Timer | null = null;
  /** The newest runs and how they stood when they were last looked at; null before the first look. */
  seen: ReadonlyMap<string, string> | null = null;
  newestAlert: string | null = null;
  openAlerts = -1;
  registration = -1;
}

const none = (): Counts => ({ accepted: 0, started: 0, suppressed: 0, ended: 0, failed: 0 });

export class LiveDigests {
  private readonly hubs = new Map<string, Hub>();
  private pings: Timer | null = null;
  /** Of all environments; who has read nothing for longest is first. */
  private readonly listeners = new Set<Listener>();

  constructor(
    private readonly platform: Pick<Platform, "timer" | "monoMs">,
    private readonly storeOf: (env: string) => LiveStore | null,
  ) {}

  get listenerCount(): number {
    return this.listeners.size;
  }

  /** Where there are as many as may be, the one that has been idle longest is closed. Throws SERVER_BUSY for a viewer where all are operators'. */
  listen(env: string, line: LiveLine, actor: ListeningActor): () => void {
    this.makeRoom(actor);
    const hub = this.hubs.get(env) ?? new Hub();
    this.hubs.set(env, hub);
    const listener: Listener = { env, hub, actor, line, isBehind: false, hasMissed: false };
    hub.listeners.add(listener);
    this.listeners.add(listener);
    hub.isDirty = true;
    this.plan(env, hub);
    hub.looking ??= this.armLook(env, hub);
    this.pings ??= this.armPings();
    return () => this.remove(listener);
  }

  private makeRoom(actor: ListeningActor): void {
    const idle = this.idlestFor(actor);
    if (idle === null) return;
    this.remove(idle);
    void idle.line.close("another page began to listen, and this one was idle longest");
  }

  /** The one that has to leave for a page of this caller; null while there is room. */
  private idlestFor({ name, role }: ListeningActor): Listener | null {
    const all = [...this.listeners];
    const own = all.filter(({ actor }) => actor.name === name);
    if (own.length >= listenersPerPrincipalMax) return own[0]!;
    const viewers = all.filter(({ actor }) => actor.role === "viewer");
    if (role === "viewer" && viewers.length >= viewerListenersMax) return viewers[0]!;
    if (all.length < listenersMax) return null;
    const longest = role === "viewer" ? viewers[0] : all[0];
    if (longest === undefined) throw errors.SERVER_BUSY({ why: `${listenersMax} pages of operators listen` });
    return longest;
  }

  /** It has read what it was given. */
  private noteRead(listener: Listener): void {
    if (this.listeners.delete(listener)) this.listeners.add(listener);
  }

  /** Something was committed. Called thousands of times a second, mostly while nobody listens. */
  note(env: string, what: keyof Counts, count = 1): void {
    const hub = this.hubs.get(env);
    if (hub === undefined) return;
    hub.counts[what] += count;
    this.mark(env, hub);
  }

  /** A run began, moved or ended, or answered for a duplicate. */
  touched(env: string, runId: string): void {
    const hub = this.hubs.get(env);
    if (hub === undefined) return;
    if (hub.changed.size <= changedMax) hub.changed.add(runId);
    this.mark(env, hub);
  }

  async close(): Promise<void> {
    const lines = [...this.hubs.values()].flatMap(({ listeners }) => [...listeners].map(({ line }) => line));
    await Promise.all(lines.map((line) => line.close("the server is stopping")));
    for (const listener of this.listeners) this.remove(listener);
  }

  private mark(env: string, hub: Hub): void {
    if (hub.isDirty) return;
    hub.isDirty = true;
    this.plan(env, hub);
  }

  private plan(env: string, hub: Hub): void {
    if (hub.timer !== null) return;
    const waitMs = Math.max(0, hub.sentAt + digestMs - this.platform.monoMs());
    hub.timer = this.platform.timer(waitMs, () => void this.send(env, hub), { background: true });
  }

  private async send(env: string, hub: Hub): Promise<void> {
    const { counts } = hub;
    const isCut = hub.changed.size > changedMax;
    const runIds = isCut ? [] : [...hub.changed];
    hub.counts = none();
    hub.changed.clear();
    hub.isDirty = false;
    hub.sentAt = this.platform.monoMs();
    try {
      const store = this.storeOf(env);
      if (store !== null && hub.listeners.size > 0) {
        const digest = await this.digestOf(env, hub, store, { counts, runIds, isCut });
        for (const listener of [...hub.listeners]) hand(listener, digest, () => this.noteRead(listener));
      }
    } catch {
      // The store did not answer: listeners see that nothing comes, and the next digest says that more changed.
      for (const listener of hub.listeners) listener.hasMissed = true;
    }
    hub.timer = null;
    if (hub.isDirty && hub.listeners.size > 0) this.plan(env, hub);
  }

  private async digestOf(
    env: string,
    hub: Hub,
    { reads, now, registration, fullName }: LiveStore,
    { counts, runIds, isCut }: { counts: Counts; runIds: readonly string[]; isCut: boolean },
  ): Promise<LiveDigest> {
    const [openCount, newest, grouped] = await Promise.all([
      reads.openAlertCount(env),
      reads.alerts(env, { limit: alertsTold }),
      runIds.length === 0 ? [] : reads.groupRuns(env, runIds, changedMax * 10),
    ]);
    const known = hub.newestAlert;
    const fresh = known === null ? [] : newest.filter(({ id }) => id > known);
    hub.newestAlert = newest[0]?.id ?? known ?? "";
    hub.openAlerts = openCount;
    hub.registration = registration();
    const groups = [...new Set(grouped.map(({ group }) => group))];
    return {
      at: now(),
      counts,
      groups: groups.slice(0, changedMax),
      isCut,
      registration: hub.registration,
      alerts: {
        open: openCount,
        new: fresh.map(({ id, kind, fn, pairCount }) => ({ id, kind, function: fullName(fn), pairCount })),
      },
    };
  }

  /** The radar, or another process, wrote something. */
  private armLook(env: string, hub: Hub): Timer {
    return this.platform.timer(
      lookMs,
      () => {
        void this.look(env, hub)
          .catch(() => {})
          .finally(() => {
            hub.looking = hub.listeners.size > 0 ? this.armLook(env, hub) : null;
          });
      },
      { background: true },
    );
  }

  private async look(env: string, hub: Hub): Promise<void> {
    const store = this.storeOf(env);
    if (store === null) return;
    const { reads, isShared } = store;
    const [openCount, newest, page] = await Promise.all([
      reads.openAlertCount(env),
      reads.alerts(env, { limit: 1 }),
      isShared ? reads.runPage(env, { limit: changedMax + 1, examinedMax: changedMax + 1 }) : null,
    ]);
    const hasNewAlert = openCount !== hub.openAlerts || (newest[0]?.id ?? "") > (hub.newestAlert ?? "");
    if (hasNewAlert || store.registration() !== hub.registration) this.mark(env, hub);
    if (page === null) return;
    const before = hub.seen;
    hub.seen = new Map(page.rows.map(({ id, state }) => [id, state]));
    if (before === null) return;
    for (const [id, state] of hub.seen) if (!before.has(id) || before.get(id) !== state) this.touched(env, id);
  }

  private armPings(): Timer {
    return this.platform.timer(
      heartbeatMs,
      () => {
        this.pings = null;
        for (const listener of [...this.listeners]) {
          if (listener.line.ping()) continue;
          this.remove(listener);
          void listener.line.close("the last heartbeat was not read");
        }
        if (this.listeners.size > 0) this.pings = this.armPings();
      },
      { background: true },
    );
  }

  private remove(listener: Listener): void {
    const { env, hub } = listener;
    if (!hub.listeners.delete(listener)) return;
    this.listeners.delete(listener);
    if (hub.listeners.size === 0) {
      hub.timer?.cancel();
      hub.looking?.cancel();
      this.hubs.delete(env);
    }
    if (this.listeners.size === 0) {
      this.pings?.cancel();
      this.pings = null;
    }
  }
}

function hand(listener: Listener, digest: LiveDigest, onRead: () => void): void {
  if (listener.isBehind) {
    listener.hasMissed = true;
    return;
  }
  const told = listener.hasMissed ? { ...digest, isCut: true } : digest;
  listener.isBehind = true;
  listener.hasMissed = false;
  listener.line.events(Buffer.from(`event: digest\ndata: ${JSON.stringify(told)}\n\n`), () => {
    listener.isBehind = false;
    onRead();
  });
}

/** Tells listeners of this process's commits. */
export const liveObserver = (
  live: LiveDigests,
): Pick<StoreObserver, "accepted" | "decided" | "runEnded"> & Required<Pick<StoreObserver, "touched">> => ({
  accepted: (env, count) => live.note(env, "accepted", count),
  decided: (env, kind, count) => {
    if (kind === "started") live.note(env, "started", count);
    else if (kind === "duplicate-event" || kind === "duplicate-key") live.note(env, "suppressed", count);
  },
  runEnded: (env, runId, state) => {
    live.note(env, "ended");
    if (state === "failed") live.note(env, "failed");
    live.touched(env, runId);
  },
  touched: (env, runId) => live.touched(env, runId),
});
