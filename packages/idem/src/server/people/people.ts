// People sign in, and out: the password is looked at, tries are bounded, and the audit learns of both.
import type { Engine } from "../../engine/engine.ts";
import { errors } from "../../model/errors.ts";
import type { Platform } from "../../platform/platform.ts";
import { defaultEnv } from "../admit-caller.ts";
import type { ServerSettings } from "../world.ts";
import { type Role, sessionName } from "./actor.ts";
import { keptSecret } from "./first-secret.ts";
import { type KnownBrowser, knownBrowser, knownWord } from "./known-browser.ts";
import { Passwords } from "./passwords.ts";
import { Refusals } from "./refusals.ts";
import { type Session, Sessions } from "./sessions.ts";
import { groupOf, TryLimit, triesMax, waitMs } from "./try-limit.ts";

export interface PeopleOptions {
  readonly settings: Pick<ServerSettings, "password" | "viewerPassword">;
  readonly platform: Platform;
  /** Of the default environment: signing in is of no environment, and is kept there. */
  readonly engine: () => Promise<Engine>;
}

export interface SignInFrom {
  readonly address: string;
  /** The browser's session until now, which ends with it. */
  readonly before: string | null;
  /** The word it was given when it got in before. */
  readonly known: string | null;
}

export interface SignedIn {
  readonly token: string;
  readonly session: Session;
  /** For the next time. */
  readonly known: string;
}

export class People {
  private readonly tries: TryLimit;
  private readonly refusals: Refusals;
  private readonly passwords: Passwords;

  constructor(private readonly options: PeopleOptions) {
    this.tries = new TryLimit(options.platform);
    this.refusals = new Refusals({
      platform: options.platform,
      write: (address, reason) => this.audit("sign-in-refused", "", address, reason),
    });
    const secret = async () => keptSecret((await options.engine()).store);
    this.passwords = new Passwords(options.settings, secret);
  }

  /** Throws SIGN_IN_REFUSED and SIGN_IN_LIMITED. */
  async signIn(password: string, { address, before, known }: SignInFrom): Promise<SignedIn> {
    const browser = known === null ? null : await this.browserOf(known);
    const role = await this.tried(address, browser, (roles) => this.passwords.roleOfAny(password, roles));
    const wait = this.tries.open(address, role);
    if (wait > 0) throw errors.SIGN_IN_LIMITED({ seconds: Math.ceil(wait / 1_000) });
    const sessions = await this.sessions();
    if (before !== null) await sessions.end(before);
    const opened = await sessions.open(role, groupOf(address));
    await this.audit("sign-in", sessionName(opened.session), address, "");
    const roleKey = (await this.passwords.roleKeys()).find((each) => each.role === role)!;
    return { ...opened, known: knownWord(roleKey, await this.now(), this.options.platform) };
  }

  private async browserOf(word: string): Promise<KnownBrowser | null> {
    return knownBrowser(await this.passwords.roleKeys(), word, await this.now());
  }

  private async now(): Promise<number> {
    return (await this.options.engine()).now();
  }

  /** A password in the request itself, as tools show it; the same bounds hold. */
  async roleOfPassword(password: string, address: string): Promise<Role> {
    return this.tried(address, null, async (roles) => this.passwords.roleOf(password, roles));
  }

  async signOut(token: string, session: Session): Promise<void> {
    await (await this.sessions()).end(token);
    await this.audit("sign-out", sessionName(session), "", "");
  }

  async session(token: string): Promise<Session | null> {
    return (await this.sessions()).find(token);
  }

  /** The audit learns of what it has not heard of yet. */
  async close(): Promise<void> {
    await this.refusals.sumUp();
  }

  private async sessions(): Promise<Sessions> {
    const engine = await this.options.engine();
    const { platform } = this.options;
    return new Sessions({
      store: engine.store,
      platform,
      now: () => engine.now(),
      roleKeys: () => this.passwords.roleKeys(),
    });
  }

  private async tried(
    address: string,
    browser: KnownBrowser | null,
    roleOf: (roles: readonly Role[]) => Promise<Role | null>,
  ): Promise<Role> {
    const attempt = this.tries.begin(address, browser, this.passwords.roles());
    const limited = () => errors.SIGN_IN_LIMITED({ seconds: Math.ceil(attempt.waitMs / 1_000) });
    if (attempt.roles.length === 0) {
      this.refusals.overBound(address);
      throw limited();
    }
    const role = await roleOf(attempt.roles);
    if (role === null) {
      const why = `wrong password, try ${triesMax - attempt.left} of ${triesMax}`;
      await this.refusals.wrongPassword(address, why);
      // It was not compared for every role: whether it is that one's nobody learns.
      if (attempt.waitMs > 0) throw limited();
      throw errors.SIGN_IN_REFUSED({ left: attempt.left, minutes: waitMs / 60_000 });
    }
    attempt.succeeded(role);
    return role;
  }

  private async audit(
    action: "sign-in" | "sign-in-refused" | "sign-out",
    actor: string,
    /** Where it came from. */
    subject: string,
    reason: string,
  ): Promise<void> {
    await (await this.options.engine()).store.audit({ env: defaultEnv, action, subject, reason, actor });
  }
}
