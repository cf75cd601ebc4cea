// The time on the wall in a zone. Between two changes of its offset a zone is a plain shift; the stretches are found by
// asking the runtime once and kept, because asking takes a microsecond and a schedule asks often.

const dayMs = 86_400_000;

/** A stretch of time in which the offset does not change. */
export interface ZoneStretch {
  readonly from: number;
  /** Exclusive; the next stretch may have the same offset. */
  readonly to: number;
  /** Wall time is the instant plus this. */
  readonly offset: number;
  /** The offset before `from`; null when it is not known to have changed there. */
  readonly before: number | null;
  /** Wall times below this one were shown before `from`, in the last day. */
  readonly shown: number;
}

export interface Zone {
  stretchAt(instant: number): ZoneStretch;
}

const always: ZoneStretch = {
  from: Number.NEGATIVE_INFINITY,
  to: Number.POSITIVE_INFINITY,
  offset: 0,
  before: null,
  shown: Number.NEGATIVE_INFINITY,
};

export const utc: Zone = { stretchAt: () => always };

// Days looked at in one go: 80 µs for the first who asks, nothing for the others.
const blockDays = 64;
const blockMs = blockDays * dayMs;

// 175 years, in at most 300 kB: a clock that stood at 1970 is counted through once, not for each schedule.
const blocksMax = 1_000;

// The IANA list has 600 names, which may also be written in other cases.
const zonesMax = 1_000;
const zones = new Map<string, Zone>();

/** Null for a name that is no zone. */
export function zoneOf(name: string): Zone | null {
  const known = zones.get(name);
  if (known !== undefined) return known;
  // Offsets such as "+02:00" are no zones: they know no summer time, and not every runtime takes them.
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(name)) return null;
  let format: Intl.DateTimeFormat;
  try {
    format = new Intl.DateTimeFormat("en-US", {
      timeZone: name,
      hourCycle: "h23",
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    });
  } catch {
    return null;
  }
  const zone = new NamedZone(format);
  if (zones.size >= zonesMax) zones.clear();
  zones.set(name, zone);
  return zone;
}

class NamedZone implements Zone {
  private readonly blocks = new Map<number, readonly ZoneStretch[]>();

  constructor(private readonly format: Intl.DateTimeFormat) {}

  stretchAt(instant: number): ZoneStretch {
    const index = Math.floor(instant / blockMs);
    let block = this.blocks.get(index);
    if (block === undefined) {
      if (this.blocks.size >= blocksMax) this.blocks.clear();
      block = this.explore(index * blockMs);
      this.blocks.set(index, block);
    }
    return block.find(({ to }) => instant < to)!;
  }

  /**
   * Begins a day early, so that a stretch knows what was shown before it. Offsets are compared day by day: no zone changed
   * twice within one since 1970.
   */
  private explore(start: number): readonly ZoneStretch[] {
    const stretches: ZoneStretch[] = [];
    let from = start - dayMs;
    let offset = this.offsetAt(from);
    let before: number | null = null;
    let shown = Number.NEGATIVE_INFINITY;
    for (let day = from; day < start + blockMs; day += dayMs) {
      const next = this.offsetAt(day + dayMs);
      if (next === offset) continue;
      const to = this.changeBetween(day, day + dayMs, offset);
      // A change at the very end is the next block's.
      if (to >= start + blockMs) break;
      stretches.push({ from, to, offset, before, shown });
      shown = Math.max(shown, to + offset);
      before = offset;
      from = to;
      offset = next;
    }
    stretches.push({ from, to: start + blockMs, offset, before, shown });
    return stretches;
  }

  /** The first instant, to the second, whose offset is another one than at `low`. */
  private changeBetween(low: number, high: number, offset: number): number {
    let [same, changed] = [low, high];
    while (changed - same > 1_000) {
      const middle = same + Math.floor((changed - same) / 2_000) * 1_000;
      if (this.offsetAt(middle) === offset) same = middle;
      else changed = middle;
    }
    return changed;
  }

  /** For whole seconds. */
  private offsetAt(instant: number): number {
    const [month, date, year, hour, minute, second] = this.format.format(instant).split(/\D+/).map(Number);
    return Date.UTC(year!, month! - 1, date!, hour!, minute!, second!) - instant;
  }
}
