// The names this process holds its leases under. One, unless an answer got lost: then jobs may be leased to a name without
// anybody here knowing of them, and they go back only together with everything else that name has. So it retires: new leases
// are taken under another name, and the old one is handed back once the runs known under it are over, after a lease term at
// the latest.
import { storedNothing } from "../model/errors.ts";
import { leaseTimes } from "../model/lease-times.ts";
import type { Platform, Timer } from "../platform/platform.ts";
import type { Beats, WorkerAbout } from "../store/sharing.ts";
import type { Store } from "../store/store.ts";
import type { StoreTime } from "./store-time.ts";

export interface LeaseNamesOptions {
  readonly store: Pick<Store, "heartbeat" | "handBack">;
  readonly platform: Pick<Platform, "monoMs" | "timer">;
  readonly time: StoreTime;
  readonly newId: () => string;
  readonly leaseTermMs: number;
  /** Facts about this process, sent with every beat. */
  readonly about?: WorkerAbout | undefined;
  /**
   * Whether other processes rescue what a silent one held: then it stops in time by itself. Where none can, a stalled process goes
   * on with what it has.
   */
  readonly othersTakeOver: boolean;
  /** Whether a run is being executed under this name. */
  readonly isUsed: (name: string) => boolean;
  readonly giveUp: (name: string, why: string) => void;
  /** Jobs went back: something may be due. */
  readonly onFreed: () => void;
  readonly report: (what: string, error: unknown) => void;
}

export class LeaseNames {
  current: string;
  private readonly retiring = new Set<string>();
  /** When the lease of each name was last asked for, by this process's steady clock. */
  private readonly beatAt = new Map<string, number>();
  private readonly watches = new Map<string, Timer>();
  /** Extends the leases beside the main thread; null where nothing does, and until it can. */
  private beats: Beats | null = null;
  private isOver = false;

  constructor(private readonly options: LeaseNamesOptions) {
    this.current = options.newId();
  }

  /** Whether what is leased to this name is still this process's own. */
  holds(name: string): boolean {
    return !this.isOver && (name === this.current || this.retiring.has(name));
  }

  /**
   * Whether the lease of this name has surely not ended: past three quarters of its term, measured by its own steady clock,
   * a holder no longer trusts it. A process that was frozen must not go on before it has asked.
   */
  trusts(name: string): boolean {
    const beatAt = this.heardAt(name);
    return this.holds(name) && beatAt !== undefined && this.options.platform.monoMs() - beatAt < this.trustMs;
  }

  /** When the last beat that was heard was asked for, by this thread or by the one beside it. */
  private heardAt(name: string): number | undefined {
    const own = this.beatAt.get(name);
    const beside = this.beats?.last(name) ?? null;
    return own === undefined || beside?.state !== "held" ? own : Math.max(own, beside.askedMono);
  }

  /**
   * From here on names are extended by this thread; null: only by the main thread. Heartbeats of the thread before it count: without them a
   * name that it extended while the event loop was blocked would be given up.
   */
  extendBy(beats: Beats | null): void {
    const heard = [...this.beatAt.keys()].map((name) => [name, this.heardAt(name)!] as const);
    this.beats = beats;
    for (const [name, askedMono] of heard) this.heard(name, askedMono);
  }

  private get trustMs(): number {
    return leaseTimes(this.options.leaseTermMs).trustMs;
  }

  /**
   * Whether work may begin under this name. One that is no longer trusted is given up here and now: its work will not go
   * on, and a heartbeat whose answer comes late must not make the name whole again with work that is not done.
   */
  mayBegin(name: string): boolean {
    if (this.trusts(name)) return true;
    this.lose(name, true).catch((error) => this.options.report("hand back", error));
    return false;
  }

  /** The name to lease under; null while the store has not enlisted it: what a name it does not know holds is never rescued. */
  get enlisted(): string | null {
    return this.beatAt.has(this.current) ? this.current : null;
  }

  /** The answer of a call that leases to this name is unknown, unless the error says that nothing was stored. */
  doubt(name: string, error: unknown): void {
    if (this.isOver || name !== this.current || storedNothing(error)) return;
    const { platform, leaseTermMs, newId } = this.options;
    this.retiring.add(name);
    this.current = newId();
    platform.timer(leaseTermMs, () => this.part(name), { background: true });
    void this.beat();
    this.ended(name);
  }

  /** A run under this name is over. */
  ended(name: string): void {
    if (this.retiring.has(name) && !this.options.isUsed(name)) this.part(name);
  }

  private part(name: string): void {
    if (!this.retiring.has(name)) return;
    this.forget(name);
    this.options.giveUp(name, "an answer of the store was lost");
    void this.handBack(name);
  }

  private forget(name: string): void {
    this.retiring.delete(name);
    this.beatAt.delete(name);
    this.beats?.drop(name);
    this.watches.get(name)?.cancel();
    this.watches.delete(name);
  }

  async handBack(name: string): Promise<void> {
    const { store, onFreed, report } = this.options;
    try {
      await store.handBack(name);
      onFreed();
    } catch (error) {
      // The lease is not extended any more, so it ends by itself.
      report("hand back", error);
    }
  }

  /** Enlists the names or extends their leases; false if one of them was not. A name that was declared lost is given up for a new one. */
  async beat(): Promise<boolean> {
    const { store, platform, time, leaseTermMs, about, report } = this.options;
    let isExtended = true;
    for (const name of [this.current, ...this.retiring]) {
      if (this.isBeatenBeside(name)) continue;
      try {
        const askedMono = platform.monoMs();
        const trusted = !this.beatAt.has(name) || this.trusts(name);
        const { alive, now } = await store.heartbeat(name, leaseTermMs, about);
        time.note(askedMono, now);
        if (alive && trusted) this.heard(name, askedMono);
        else await this.lose(name, alive);
      } catch (error) {
        isExtended = false;
        report("heartbeat", error);
      }
    }
    return isExtended;
  }

  /** Whether the thread beside this one does it: then what it heard counts here, too. */
  private isBeatenBeside(name: string): boolean {
    const { platform, leaseTermMs, report } = this.options;
    const beat = this.beats?.last(name) ?? null;
    if (beat === null) return false;
    if (beat.state !== "held") {
      this.lose(name, beat.state === "lapsed").catch((error) => report("hand back", error));
      return true;
    }
    // It should have come by now: this thread asks for itself.
    if (platform.monoMs() - beat.askedMono > 2 * leaseTimes(leaseTermMs).beatEveryMs) return false;
    if (this.trusts(name)) this.heard(name, beat.askedMono);
    return true;
  }

  /**
   * The lease was extended by an asking at this time: unless it is again, what runs under it is stopped before others take over. A name becomes
   * usable here, and is posted to the heartbeat thread in the same turn: user code that runs under it may block the event loop at once.
   */
  private heard(name: string, askedMono: number): void {
    if (!this.holds(name)) return;
    this.beatAt.set(name, Math.max(askedMono, this.beatAt.get(name) ?? askedMono));
    this.beats?.hold(name, askedMono);
    if (!this.options.othersTakeOver) return;
    const { platform } = this.options;
    this.watches.get(name)?.cancel();
    const stop = () => void this.mayBegin(name);
    const leftMs = askedMono + this.trustMs - platform.monoMs();
    this.watches.set(name, platform.timer(Math.max(0, leftMs), stop, { background: true }));
  }

  /** Declared lost while this process was frozen: others have the runs. */
  private async lose(name: string, alive: boolean): Promise<void> {
    if (!this.holds(name)) return;
    const { store, newId, giveUp, onFreed } = this.options;
    this.forget(name);
    const wasCurrent = name === this.current;
    if (wasCurrent) this.current = newId();
    giveUp(name, "this worker was declared lost");
    if (alive) await store.handBack(name);
    if (wasCurrent) await this.beat();
    onFreed();
  }

  /** The process stops: everything goes back at once. */
  async close(): Promise<void> {
    this.isOver = true;
    for (const watch of this.watches.values()) watch.cancel();
    const names = [this.current, ...this.retiring];
    this.retiring.clear();
    for (const name of names) this.beats?.drop(name);
    for (const name of names) await this.handBack(name);
  }
}
