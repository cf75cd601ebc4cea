// How often a password may be guessed: five wrong ones from an address, then a minute's wait; and a bound for all addresses
// together, which those who got in before are not asked about, so that a stranger's guessing does not lock them out. A browser that got in
// before (known-browser.ts) has five of its own, whatever is tried from its address. Each node counts for itself.
import type { Platform } from "../../platform/platform.ts";

export const triesMax = 5;
export const waitMs = 60_000;
// For all strangers together: ten addresses' worth.
const triesOfAllMax = 50;
// Bounded like everything a stranger can make grow; who is dropped first has waited longest.
const addressesMax = 10_000;
const knownMax = 1_000;

export type Try =
  | { readonly kind: "allowed"; readonly left: number }
  | { readonly kind: "limited"; readonly waitMs: number };

interface Count {
  tries: number;
  lastAt: number;
}

export class TryLimit {
  private readonly counts = new Map<string, Count>();
  private readonly known = new Set<string>();
  private readonly all: Count = { tries: 0, lastAt: 0 };

  constructor(private readonly platform: Pick<Platform, "monoMs">) {}

  /** Counted before the password is looked at: guesses that are made at the same time count one by one. */
  begin(address: string, browser: string | null = null): Try {
    const now = this.platform.monoMs();
    const who = nameOf(address, browser);
    const count = this.counts.get(who) ?? { tries: 0, lastAt: now };
    const isKnown = browser !== null || this.known.has(who);
    const wait = Math.max(waitOf(count, triesMax, now), isKnown ? 0 : waitOf(this.all, triesOfAllMax, now));
    if (wait > 0) return { kind: "limited", waitMs: wait };
    add(count, now);
    add(this.all, now);
    this.counts.delete(who);
    this.counts.set(who, count);
    dropOldest(this.counts, addressesMax);
    return { kind: "allowed", left: triesMax - count.tries };
  }

  /** The password was right: nothing of before is held against its sender. */
  succeeded(address: string, browser: string | null = null): void {
    const who = groupOf(address);
    this.counts.delete(nameOf(address, browser));
    this.all.tries = Math.max(0, this.all.tries - 1);
    this.known.delete(who);
    this.known.add(who);
    dropOldest(this.known, knownMax);
  }
}

function waitOf({ tries, lastAt }: Count, max: number, now: number): number {
  return tries < max ? 0 : Math.max(0, Math.ceil(lastAt + waitMs - now));
}

function add(count: Count, now: number): void {
  if (now - count.lastAt >= waitMs) count.tries = 0;
  count.tries++;
  count.lastAt = now;
}

function dropOldest(kept: Map<string, unknown> | Set<string>, max: number): void {
  if (kept.size > max) kept.delete(kept.keys().next().value!);
}

const nameOf = (address: string, browser: string | null): string =>
  browser === null ? groupOf(address) : `browser ${browser}`;

/** Whoever has one IPv6 address has 2^64 of them. */
export function groupOf(address: string): string {
  const plain = address.replace(/^::ffff:(?=\d+\.)/i, "").toLowerCase();
  if (!plain.includes(":")) return plain;
  const [head = "", tail] = plain.replace(/%.*$/, "").split("::");
  const left = head === "" ? [] : head.split(":");
  const right = tail === undefined || tail === "" ? [] : tail.split(":");
  const zeros = tail === undefined ? 0 : Math.max(0, 8 - left.length - right.length);
  return [...left, ...Array<string>(zeros).fill("0"), ...right]
    .slice(0, 4)
    .map((part) => part.replace(/^0+(?=.)/, ""))
    .join(":");
}
