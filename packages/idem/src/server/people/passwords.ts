// People's ways in: passwords from the environment or, where there is none, the secret this server made at its first
// start. Every comparison takes as long for a wrong one as for a right one.
import { createHash, scrypt, timingSafeEqual } from "node:crypto";
import type { ServerSettings } from "../world.ts";
import type { Role } from "./actor.ts";
import { type KeptSecret, readSecret, secretHash } from "./first-secret.ts";

export interface RoleKey {
  readonly role: Role;
  /** Hashes the sessions of this role: they end with the password they were opened with. */
  readonly key: Buffer;
}

export const passwordCharsMax = 1_024;

export class Passwords {
  private readonly given: readonly { readonly role: Role; readonly password: string; readonly digest: Buffer }[];
  private made: Promise<readonly RoleKey[]> | null = null;

  constructor(
    settings: Pick<ServerSettings, "password" | "viewerPassword">,
    /** The secret in the store; null where none was made. */
    private readonly secret: () => Promise<KeptSecret | null>,
  ) {
    const { password, viewerPassword } = settings;
    const given: readonly (readonly [Role, string | undefined])[] = [
      ["operator", password],
      ["viewer", viewerPassword],
    ];
    this.given = given.flatMap(([role, text]) =>
      text === undefined || text === "" ? [] : [{ role, password: text, digest: digestOf(text) }],
    );
  }

  /** The roles that have a password now. */
  roles(): readonly Role[] {
    return this.given.length === 0 ? ["operator"] : this.given.map(({ role }) => role);
  }

  /** The role of a password among those of the environment, of the roles it is compared for; null for nobody's. */
  roleOf(text: string, roles: readonly Role[]): Role | null {
    if (text.length > passwordCharsMax) return null;
    const digest = digestOf(text);
    let found: Role | null = null;
    // All are compared, whichever fits and whichever counts.
    for (const each of this.given) {
      if (timingSafeEqual(digest, each.digest) && roles.includes(each.role)) found ??= each.role;
    }
    return found;
  }

  /** As above, or by the secret of the first start where the environment has none. */
  async roleOfAny(text: string, roles: readonly Role[]): Promise<Role | null> {
    if (this.given.length > 0) return this.roleOf(text, roles);
    const secret = text.length > passwordCharsMax ? null : await this.secret();
    if (secret === null) return null;
    const { salt, hash } = readSecret(secret);
    return timingSafeEqual(await secretHash(text, salt), hash) ? "operator" : null;
  }

  /** Those there are now. */
  async roleKeys(): Promise<readonly RoleKey[]> {
    if (this.given.length === 0) {
      const secret = await this.secret();
      return secret === null ? [] : [{ role: "operator", key: readSecret(secret).hash }];
    }
    this.made ??= Promise.all(
      this.given.map(async ({ role, password }) => ({ role, key: await stretched(password, role) })),
    );
    return this.made;
  }
}

/** Of one length, so that how long a password is does not show either. */
const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();

/** The same on every node that has the password; slow, so that a stolen cookie and a stolen store do not give it away. */
const stretched = (password: string, role: Role): Promise<Buffer> =>
  new Promise((resolve, reject) =>
    scrypt(password, `idem sessions of ${role}`, 32, (error, key) => (error === null ? resolve(key) : reject(error))),
  );
