// Duplicates that wait for the first one's answer. They hold a timer and nothing else, and there are only so many: a client that retries in a
// loop must not fill the process.

const perKeyMax = 8;
const perProcessMax = 200;

export class WaitRoom {
  private readonly waiting = new Map<string, number>();
  private count = 0;

  /** False when there is no place; a place that was given has to be left again. */
  enter(id: string): boolean {
    const here = this.waiting.get(id) ?? 0;
    if (here >= perKeyMax || this.count >= perProcessMax) return false;
    this.waiting.set(id, here + 1);
    this.count++;
    return true;
  }

  leave(id: string): void {
    const here = this.waiting.get(id) ?? 0;
    if (here <= 1) this.waiting.delete(id);
    else this.waiting.set(id, here - 1);
    this.count--;
  }
}

/** `Prefer: wait=5` in milliseconds (RFC 7240, 4.3); null when it is not asked for. */
export function preferredWaitMs(prefer: string | null): number | null {
  const found = /(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?:$|[,;])/i.exec(prefer ?? "");
  return found === null ? null : Number(found[1]) * 1_000;
}
