// Which destination a host is: the table of `destination()`, by the hosts it publishes.
import { destinationAt } from "../dedup/destination-hosts.ts";
import type { KnownHost } from "./destination-model.ts";

export function knownHost(host: string): KnownHost | null {
  const found = destinationAt(host);
  if (found === null) return null;
  if (found.place === null) return { name: found.name, place: null, remembersMs: 0, mismatch: "unknown" };
  const { name, place, remembersMs, mismatch } = found;
  return { name, place, remembersMs, mismatch };
}
