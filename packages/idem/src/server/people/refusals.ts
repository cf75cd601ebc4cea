// The wrong passwords the audit hears of. It is kept for a year or more and strangers can make it grow, so it hears of ten in a minute one by one, and at the
// minute's end of how many more there were, tries over the bound included, and from where.
import type { Platform, Timer } from "../../platform/platform.ts";

const notedMax = 10;
const minuteMs = 60_000;
// Named in the sum; the rest are a number.
const addressesNamedMax = 10;
const addressesMax = 1_000;

export interface RefusalsOptions {
  readonly platform: Pick<Platform, "monoMs" | "timer">;
  /** Writes into the audit. */
  readonly write: (address: string, reason: string) => Promise<void>;
}

export class Refusals {
  private until = Number.NEGATIVE_INFINITY;
  private noted = 0;
  private wrong = 0;
  private limited = 0;
  private readonly from = new Map<string, number>();
  private timer: Timer | null = null;

  constructor(private readonly options: RefusalsOptions) {}

  async wrongPassword(address: string, why: string): Promise<void> {
    const now = this.options.platform.monoMs();
    if (now >= this.until) {
      this.until = now + minuteMs;
      this.noted = 0;
    }
    if (this.noted < notedMax) {
      this.noted++;
      await this.options.write(address, why);
      return;
    }
    this.wrong++;
    this.later(address);
  }

  overBound(address: string): void {
    this.limited++;
    this.later(address);
  }

  private later(address: string): void {
    const name = this.from.has(address) || this.from.size < addressesMax ? address : "elsewhere";
    this.from.set(name, (this.from.get(name) ?? 0) + 1);
    this.arm();
  }

  private arm(): void {
    this.timer ??= this.options.platform.timer(minuteMs, () => void this.sumUpNow(), { background: true });
  }

  /** Refusals the store did not take are written a minute later. */
  private async sumUpNow(): Promise<void> {
    if (!(await this.sumUp())) this.arm();
  }

  /** Writes what is still to be said; false where the store did not take it. */
  async sumUp(): Promise<boolean> {
    this.timer?.cancel();
    this.timer = null;
    const { wrong, limited } = this;
    if (wrong + limited === 0) return true;
    const from = [...this.from].toSorted(([, a], [, b]) => b - a);
    const named = from.slice(0, addressesNamedMax).map(([address, count]) => `${address} (${count})`);
    const others = from.length - named.length;
    const where = [...named, ...(others === 0 ? [] : [`${others} more addresses`])].join(", ");
    try {
      await this.options.write(
        from.length === 1 ? from[0]![0] : "",
        `${wrong} more wrong passwords and ${limited} tries over the bound since the last note: ${where}`,
      );
    } catch {
      return false;
    }
    this.wrong -= wrong;
    this.limited -= limited;
    for (const [address, count] of from) {
      const left = (this.from.get(address) ?? 0) - count;
      if (left > 0) this.from.set(address, left);
      else this.from.delete(address);
    }
    return true;
  }
}
