// The time of one world, and everything in it that waits for a time. It moves only when it is moved; each waiting thing belongs to a life, and is dropped
// with it or held while it stands still.
import { ManualClock } from "../../platform/manual-clock.ts";
import type { Timer } from "../../platform/platform.ts";

/** The owner of an alarm: a dead one's never rings, a frozen one's rings when it thaws. */
export interface Owner {
  readonly isDead: boolean;
  readonly isFrozen: boolean;
}

interface Alarm {
  at: number;
  readonly order: number;
  readonly run: () => void;
  readonly owner: Owner;
  readonly isBackground: boolean;
}

export class WorldClock {
  private readonly hands: ManualClock;
  private alarms: Alarm[] = [];
  private order = 0;

  constructor(startMs: number) {
    this.hands = new ManualClock(startMs);
  }

  wallMs(): number {
    return this.hands.wallMs();
  }

  monoMs(): number {
    return this.hands.monoMs();
  }

  set(ms: number, run: () => void, owner: Owner, isBackground: boolean): Timer {
    const delay = Number.isFinite(ms) ? Math.max(0, ms) : 0;
    const alarm: Alarm = { at: this.monoMs() + delay, order: this.order++, run, owner, isBackground };
    this.alarms.push(alarm);
    return {
      cancel: () => {
        this.alarms = this.alarms.filter((other) => other !== alarm);
      },
    };
  }

  /** When the next one rings; null when none does. Housekeeping alone does not make time pass, unless asked for. */
  next(kind: "awaited" | "any"): number | null {
    let soonest: number | null = null;
    for (const { at, owner, isBackground } of this.alarms) {
      if (owner.isDead || owner.isFrozen || (isBackground && kind === "awaited")) continue;
      if (soonest === null || at < soonest) soonest = at;
    }
    return soonest;
  }

  hasAwaited(owner: Owner): boolean {
    return this.alarms.some((alarm) => alarm.owner === owner && !alarm.isBackground);
  }

  /**
   * Moves to an instant. Just before it housekeeping sees the time that passed: a heartbeat that came together with what is due would take
   * the jump for a process that was frozen.
   */
  async moveTo(at: number, settle: () => Promise<void>): Promise<void> {
    if (at - this.monoMs() > 1) {
      this.hands.advance(at - 1 - this.monoMs());
      if (this.ring()) await settle();
    }
    this.hands.advance(Math.max(0, at - this.monoMs()));
    this.ring();
    await settle();
  }

  private ring(): boolean {
    const now = this.monoMs();
    const isDue = ({ at, owner }: Alarm): boolean => at <= now && !owner.isFrozen;
    const due = this.alarms.filter(isDue);
    if (due.length === 0) return false;
    this.alarms = this.alarms.filter((alarm) => !isDue(alarm));
    for (const { run, owner } of due.sort((a, b) => a.at - b.at || a.order - b.order)) if (!owner.isDead) run();
    return true;
  }
}
