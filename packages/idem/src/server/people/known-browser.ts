// A browser that got in before is given a word to show with its next password. Its tries are then counted by themselves: a stranger who guesses
// behind the same proxy, or from everywhere at once, does not keep its person out. The word opens nothing, the password is asked for as ever;
// it ends after 90 days, and with the password it was given for. Nothing of it is stored: every node can tell its own.
import { createHmac, timingSafeEqual } from "node:crypto";
import { dayMs } from "../../model/window.ts";
import type { Platform } from "../../platform/platform.ts";
import type { Role } from "./actor.ts";
import type { RoleKey } from "./passwords.ts";

const lifeMs = 90 * dayMs;
const idBytes = 12;
const pattern = /^([A-Za-z0-9_-]{16})\.([0-9a-z]{1,12})\.([A-Za-z0-9_-]{43})$/;

export const knownWordCharsMax = 100;

export function knownWord(roleKey: RoleKey, now: number, platform: Pick<Platform, "randomBytes">): string {
  const said = `${Buffer.from(platform.randomBytes(idBytes)).toString("base64url")}.${(now + lifeMs).toString(36)}`;
  return `${said}.${macOf(roleKey, said).toString("base64url")}`;
}

export interface KnownBrowser {
  readonly id: string;
  /** Whose password it showed. */
  readonly role: Role;
}

/** The browser of a word; null for a word nobody was given, or that has ended. */
export function knownBrowser(roleKeys: readonly RoleKey[], word: string, now: number): KnownBrowser | null {
  const [, id, endsAt, mac] = pattern.exec(word) ?? [];
  if (id === undefined || Number.parseInt(endsAt!, 36) <= now) return null;
  const shown = Buffer.from(mac!, "base64url");
  const roleKey = roleKeys.find((each) => timingSafeEqual(macOf(each, `${id}.${endsAt}`), shown));
  return roleKey === undefined ? null : { id, role: roleKey.role };
}

const macOf = ({ key }: RoleKey, said: string): Buffer =>
  createHmac("sha256", key).update(`idem known browser ${said}`).digest();
