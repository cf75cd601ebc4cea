import type { NestedIngest } from "../advance.ts";
import type { NewPair } from "../ingest.ts";

/** Of events that a step or a run sends in its own transaction, those that are kept, and their pairs. */
export function keptEvents(nested: NestedIngest, kept: readonly boolean[]): Pick<NestedIngest, "events" | "pairs"> {
  if (kept.every(Boolean)) return nested;
  const position = new Map<number, number>();
  const events = nested.events.filter((_, i) => {
    if (kept[i]) position.set(i, position.size);
    return kept[i];
  });
  const pairs: NewPair[] = [];
  for (const pair of nested.pairs) {
    const event = position.get(pair.event);
    if (event !== undefined) pairs.push({ ...pair, event });
  }
  return { events, pairs };
}
