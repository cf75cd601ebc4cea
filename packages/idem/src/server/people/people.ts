// People sign in, and out: the password is looked at, tries are bounded, and the audit learns of both.
import type { Engine } from "../../engine/engine.ts";
import { errors } from "../../model/errors.ts";
import type { Platform } from "../../platform/platform.ts";
import { defaultEnv } from "../admit-caller.ts";
import type { ServerSettings } from "../world.ts";
import { type Role, sessionName } from "./actor.ts";
import { keptSecret } from "./first-secret.ts";
import { knownBrowser, knownWord } from "./known-browser.ts";
import { Passwords } from "./passwords.ts";
import { Refusals } from "./refusals.ts";
import { type Session, Sessions } from "./sessions.ts";
import { TryLimit, triesMax, waitMs } from "./try-limit.ts";

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
    this.refusals = new Refusals(options.platform);
    const secret = async () => keptSecret((await options.engine()).store);
    this.passwords = new Passwords(options.settings, secret);
  }

  /** Throws SIGN_IN_REFUSED and SIGN_IN_LIMITED. */
  async signIn(password: string, { address, before, known }: SignInFrom): Promise<SignedIn> {
    const browser = known === null ? null : await this.browserOf(known);
    const role = await this.tried(address, browser, () => this.passwords.roleOfAny(password));
    const sessions = await this.sessions();
    if (before !== null) await sessions.end(before);
    const opened = await sessions.open(role);
    await this.audit("sign-in", sessionName(opened.session), address, "");
    const door = (await this.passwords.doors()).find((each) => each.role === role)!;
    return { ...opened, known: knownWord(door, await this.now(), this.options.platform) };
  }

  private async browserOf(word: string): Promise<string | null> {
    return knownBrowser(await this.passwords.doors(), word, await this.now());
  }

  private async now(): Promise<number> {
    return (await this.options.engine()).now();
  }

  /** A password in the request itself, as tools show it; the same bounds hold. */
  async roleOfPassword(password: string, address: string): Promise<Role> {
    return this.tried(address, null, async () => this.passwords.roleOf(password));
  }

  async signOut(token: string, session: Session): Promise<void> {
    await (await this.sessions()).end(token);
    await this.audit("sign-out", sessionName(session), "", "");
  }

  async session(token: string): Promise<Session | null> {
    return (await this.sessions()).find(token);
  }

  private async sessions(): Promise<Sessions> {
    const engine = await this.options.engine();
    const { platform } = this.options;
    return new Sessions({
      store: engine.store,
      platform,
      now: () => engine.now(),
      doors: () => this.passwords.doors(),
    });
  }

  private async tried(address: string, browser: string | null, roleOf: () => Promise<Role | null>): Promise<Role> {
    const allowed = this.tries.begin(address, browser);
    if (allowed.kind === "limited") throw errors.SIGN_IN_LIMITED({ seconds: Math.ceil(allowed.waitMs / 1_000) });
    const role = await roleOf();
    if (role === null) {
      const words = this.refusals.note();
      const why = `wrong password, try ${triesMax - allowed.left} of ${triesMax}`;
      if (words !== null) await this.audit("sign-in-refused", "", address, `${why}${words}`);
      throw errors.SIGN_IN_REFUSED({ left: allowed.left, minutes: waitMs / 60_000 });
    }
    this.tries.succeeded(address, browser);
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
