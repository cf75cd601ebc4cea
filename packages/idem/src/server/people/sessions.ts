// Sessions of people who are signed in. A session is a random token in a browser's cookie; the store keeps only its hash, so that every node
// of one store knows it, a restart ends nobody's, and a reader of the store cannot act as anybody. It ends after two hours without a request,
// after twelve in any case, when its person signs out, and when the password it was opened with is changed.
import { createHmac } from "node:crypto";
import type { Platform } from "../../platform/platform.ts";
import type { Setting } from "../../store/settings.ts";
import type { Store } from "../../store/store.ts";
import { defaultEnv } from "../admit-caller.ts";
import type { Role } from "./actor.ts";
import type { RoleKey } from "./passwords.ts";

const kind = "session";

export const sessionLifeMs = 12 * 60 * 60_000;
export const sessionIdleMs = 2 * 60 * 60_000;
// Of each role, so that viewers never end an operator's: people, times their browsers. Beyond it one person has to sign in again:
// of the address that has most of them, the one seen least recently, so that one who opens many ends their own.
export const sessionsMax = 100;
// A page asks several times a second; so often it is written down.
const seenEveryMs = 60_000;
const tokenBytes = 32;

export interface Session {
  /** The first characters of its hash: what people call it by. */
  readonly mark: string;
  readonly role: Role;
  /** A page sends it back with everything that changes something. */
  readonly csrf: string;
  readonly startedAt: number;
  readonly seenAt: number;
  /** When it ends if nobody asks for anything. */
  readonly endsAt: number;
}

interface Kept {
  readonly role: Role;
  readonly startedAt: number;
  readonly seenAt: number;
  /** The address it was opened from (of IPv6, its network); unknown for one opened before this was kept. */
  readonly from?: string;
}

export interface SessionsOptions {
  readonly store: Store;
  readonly platform: Pick<Platform, "randomBytes">;
  /** By the store's clock: nodes whose own clocks differ agree. */
  readonly now: () => number;
  readonly roleKeys: () => Promise<readonly RoleKey[]>;
}

export class Sessions {
  constructor(private readonly options: SessionsOptions) {}

  async open(role: Role, from: string): Promise<{ readonly token: string; readonly session: Session }> {
    const { platform, roleKeys } = this.options;
    await this.makeRoom(role);
    const roleKey = (await roleKeys()).find((each) => each.role === role)!;
    const token = Buffer.from(platform.randomBytes(tokenBytes)).toString("base64url");
    const now = this.options.now();
    const name = nameOf(roleKey, token);
    const kept: Kept = { role, startedAt: now, seenAt: now, from };
    await this.keep(name, kept, 0);
    return { token, session: sessionOf(name, token, kept) };
  }

  /** Null for a token nobody was given, or whose session has ended. */
  async find(token: string): Promise<Session | null> {
    const found = await this.kept(token);
    if (found === null) return null;
    const { setting, kept } = found;
    const now = this.options.now();
    if (endsAtOf(kept) <= now) return null;
    const seen = now - kept.seenAt < seenEveryMs ? kept : { ...kept, seenAt: now };
    // Over the version that was read: a session that was signed out meanwhile does not come back.
    if (seen !== kept) await this.keep(setting.name, seen, setting.version);
    return sessionOf(setting.name, token, seen);
  }

  /** Repeat: it stays ended. */
  async end(token: string): Promise<void> {
    const found = await this.kept(token);
    if (found !== null) await this.forget(found.setting);
  }

  private async kept(token: string): Promise<{ readonly setting: Setting; readonly kept: Kept } | null> {
    const [roleKeys, settings] = await Promise.all([this.options.roleKeys(), this.all()]);
    for (const roleKey of roleKeys) {
      const name = nameOf(roleKey, token);
      const setting = settings.find((each) => each.name === name);
      const kept = setting === undefined ? null : readKept(setting);
      if (setting !== undefined && kept?.role === roleKey.role) return { setting, kept };
    }
    return null;
  }

  private async makeRoom(role: Role): Promise<void> {
    const now = this.options.now();
    const all = (await this.all()).map((setting) => ({ setting, kept: readKept(setting) }));
    const open = all.filter(({ kept }) => endsAtOf(kept) > now);
    const ended = all.filter((each) => !open.includes(each));
    const ofRole = open.filter(({ kept }) => kept.role === role).toSorted((a, b) => a.kept.seenAt - b.kept.seenAt);
    const over: typeof all = [];
    while (ofRole.length >= sessionsMax) over.push(...ofRole.splice(crowded(ofRole.map(({ kept }) => kept)), 1));
    for (const { setting } of [...ended, ...over]) await this.forget(setting);
  }

  private all(): Promise<readonly Setting[]> {
    return this.options.store.reads.settings(defaultEnv, kind);
  }

  private async keep(name: string, kept: Kept, over: number): Promise<void> {
    // No reason: a sign-in is audited where it is known who.
    const value = JSON.stringify(kept);
    await this.options.store.set({ env: defaultEnv, kind, name, value, over, reason: null });
  }

  private async forget({ name }: Setting): Promise<void> {
    await this.options.store.set({ env: defaultEnv, kind, name, value: null, over: null, reason: null });
  }
}

/** The first, by when they were seen, of the address that has most of them. */
function crowded(seen: readonly Kept[]): number {
  const counts = new Map<string, number>();
  for (const { from = "" } of seen) counts.set(from, (counts.get(from) ?? 0) + 1);
  const most = Math.max(...counts.values());
  return seen.findIndex(({ from = "" }) => counts.get(from) === most);
}

const readKept = ({ value }: Setting): Kept => JSON.parse(value) as Kept;

const endsAtOf = ({ startedAt, seenAt }: Kept): number => Math.min(startedAt + sessionLifeMs, seenAt + sessionIdleMs);

const nameOf = ({ key }: RoleKey, token: string): string => createHmac("sha256", key).update(token).digest("hex");

const markChars = 6;

const sessionOf = (name: string, token: string, kept: Kept): Session => ({
  mark: name.slice(0, markChars),
  role: kept.role,
  // Of the token, which pages cannot read; nothing in the store leads to it.
  csrf: createHmac("sha256", token).update("idem csrf").digest("base64url"),
  startedAt: kept.startedAt,
  seenAt: kept.seenAt,
  endsAt: endsAtOf(kept),
});
