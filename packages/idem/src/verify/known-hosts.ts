// Which destination a host is: the table of `destination()`, by the hosts it publishes.
import { destinationAt } from "../dedup/destination-hosts.ts";
import type { KnownHost } from "./destination-model.ts";

// A function asks few, in every world again.
const known = new Map<string, KnownHost | null>();

export function knownHost(host: string): KnownHost | null {
  const before = known.get(host);
  if (before !== undefined) return before;
  const found = describedAt(host);
  known.set(host, found);
  return found;
}

function describedAt(host: string): KnownHost | null {
  const found = destinationAt(host);
  if (found === null) return null;
  if (found.place === null) return { name: found.name, place: null, remembersMs: 0, mismatch: "unknown" };
  const { name, place, remembersMs, mismatch } = found;
  return { name, place, remembersMs, mismatch };
}
