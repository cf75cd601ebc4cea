// Bounds guesses at a password. A guess is one at every role it is compared for, and is counted for each of them: five wrong ones in a
// minute from an address, and a bound for all addresses together. A right password forgives nothing that was wrong before it, of its own
// role or of another; it only costs nothing itself (decision 22).
//
// Nobody is kept out for long by guesses from elsewhere: a browser that got in before (known-browser.ts) has five of its own, whatever is
// tried beside it; an address that got in before is not asked about the bound for all; and an address from which nothing wrong came for an
// hour shares that bound only with others of the kind, not with those who guess. One that got in as a viewer counts as known for viewers
// only. Each node counts for itself.
import type { Platform } from "../../platform/platform.ts";
import type { Role } from "./actor.ts";
import type { KnownBrowser } from "./known-browser.ts";
import { Recent } from "./recent.ts";

export const triesMax = 5;
export const waitMs = 60_000;
// For all strangers together, at each role: ten addresses' worth; and as many for those from whom nothing wrong came yet.
const triesOfAllMax = 50;
const cleanMs = 60 * 60_000;
// More often than that from one address, it is a program that should keep its cookie; each time costs a session and a line of the audit.
const openedMax = 60;
const addressesMax = 10_000;
const knownMax = 1_000;

export interface Attempt {
  /** Roles the password may be compared for; none where it must not be looked at. */
  readonly roles: readonly Role[];
  /** Wrong ones that are left before a wait, if this one is wrong. */
  readonly left: number;
  /** Until it may be compared for all of them; 0 where it may. */
  readonly waitMs: number;
  /** The password was this role's: this one try is not held against anybody, what was wrong before it is. */
  succeeded(role: Role): void;
}

export class TryLimit {
  private readonly failed: Recent;
  private readonly failedByAll: Recent;
  private readonly opened: Recent;
  private readonly known = new Set<string>();

  constructor(platform: Pick<Platform, "monoMs">) {
    this.failed = new Recent({ platform, namesMax: addressesMax, timesMax: triesMax });
    this.failedByAll = new Recent({ platform, namesMax: 4, timesMax: triesOfAllMax });
    this.opened = new Recent({ platform, namesMax: addressesMax, timesMax: openedMax });
  }

  /** Counted before the password is looked at: guesses that are made at the same time count one by one. */
  begin(address: string, browser: KnownBrowser | null, roles: readonly Role[]): Attempt {
    const asked = roles.map((role) => this.judge(role, groupOf(address), browser));
    const allowed = asked.filter(({ wait }) => wait === 0);
    const takeBack = allowed.flatMap(({ who, pool }) => [this.failed.add(who), this.failedByAll.add(pool)]);
    return {
      roles: allowed.map(({ role }) => role),
      left: Math.min(...allowed.map(({ who }) => triesMax - this.failed.count(who, waitMs))),
      waitMs: Math.max(0, ...asked.map(({ wait }) => wait)),
      succeeded: (role) => {
        for (const back of takeBack) back();
        for (const each of roles) if (opens(role, each)) this.remember(`${each} ${groupOf(address)}`);
      },
    };
  }

  private judge(role: Role, group: string, browser: KnownBrowser | null) {
    const isKnownBrowser = browser !== null && opens(browser.role, role);
    const who = isKnownBrowser ? `${role} browser ${browser.id}` : `${role} ${group}`;
    const isKnown = isKnownBrowser || this.known.has(`${role} ${group}`);
    const pool = `${role} ${this.failed.count(who, cleanMs) === 0 ? "clean" : "guessing"}`;
    const ofAll = isKnown ? 0 : this.failedByAll.waitMs(pool, triesOfAllMax, waitMs);
    return { role, who, pool, wait: Math.max(this.failed.waitMs(who, triesMax, waitMs), ofAll) };
  }

  /** A session is opened after a right password: how long its person must wait, 0 when they need not. */
  open(address: string, role: Role): number {
    const who = `${role} ${groupOf(address)}`;
    const wait = this.opened.waitMs(who, openedMax, waitMs);
    if (wait === 0) this.opened.add(who);
    return wait;
  }

  private remember(name: string): void {
    this.known.delete(name);
    this.known.add(name);
    if (this.known.size > knownMax) this.known.delete(this.known.keys().next().value!);
  }
}

/** An operator may also look; a viewer is a stranger where something acts. */
const opens = (had: Role, asked: Role): boolean => had === asked || had === "operator";

/** The holder of one IPv6 address has 2^64 of them. */
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
