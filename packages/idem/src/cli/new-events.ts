// Events as they appear, each once. Ids grow with time, and one owner stores them nearly in that order; nodes that share a server
// commit side by side, so an event may appear behind a newer one: there the last seconds are read again each time.
import type { Event } from "../model/event.ts";
import { makeUlid, ulidTime } from "../model/ulid.ts";
import type { Reading } from "./command.ts";

const pageSize = 200;
// Longer than a commit takes, and than the clocks of nodes are apart.
const lookBackMs = { file: 0, server: 5_000, elsewhere: 5_000 } as const;

export class NewEvents {
  private newest: string;
  private readonly seen = new Set<string>();

  constructor(
    private readonly reading: Pick<Reading, "rows" | "env"> & { readonly place: Pick<Reading["place"], "kind"> },
    /** Events up to this one are not new. */
    private readonly from: string,
  ) {
    this.newest = from;
  }

  /** A page of them, oldest first; `isAll` when there is nothing more for now. */
  async look(): Promise<{ readonly events: readonly Event[]; readonly isAll: boolean }> {
    const { rows, env } = this.reading;
    const floor = this.floor();
    for (const id of this.seen) if (id <= floor) this.seen.delete(id);
    for (let after = floor; ; ) {
      const page = await rows.eventsAfter(env, after, pageSize);
      const events = page.filter(({ id }) => !this.seen.has(id));
      const isAll = page.length < pageSize;
      after = page.at(-1)?.id ?? after;
      if (events.length === 0 && !isAll) continue;
      for (const { id } of events) this.seen.add(id);
      if (after > this.newest) this.newest = after;
      return { events, isAll };
    }
  }

  private floor(): string {
    const backMs = lookBackMs[this.reading.place.kind];
    if (backMs === 0 || this.newest === this.from) return this.newest;
    const earlier = makeUlid(Math.max(0, ulidTime(this.newest) - backMs), new Uint8Array(10));
    return earlier > this.from ? earlier : this.from;
  }
}
