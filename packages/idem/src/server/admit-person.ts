// Admits people and tools. A password or a signing key in the Authorization header is for tools; browsers show a session's cookie, and
// requests that change something must then come from a page of this server: browsers send cookies along with whatever any page asks for.
// Where both are shown, the header counts.
import { createHash, timingSafeEqual } from "node:crypto";
import { errors } from "../model/errors.ts";
import { admitCaller, type Caller, defaultEnv, namedEnv } from "./admit-caller.ts";
import type { PageGuard } from "./browser-guard.ts";
import { basicPasswordOf } from "./credentials.ts";
import { type Actor, devActor, keyActor, passwordActor, programActor, sessionActor } from "./people/actor.ts";
import { sessionTokenOf } from "./people/session-cookie.ts";
import type { Route } from "./route.ts";
import type { World } from "./world.ts";

export interface Admitted {
  readonly env: string;
  readonly actor: Actor;
}

export interface PersonCaller extends Caller {
  readonly method: string;
  /** The address at the other end of the line. */
  readonly address: string;
}

export const csrfHeader = "x-idem-csrf";

type PersonWorld = Pick<World, "credentials" | "people" | "settings">;
type Asked = Pick<Route, "access" | "viewerMay">;

/** Throws UNAUTHORIZED, SIGN_IN_REFUSED, SIGN_IN_LIMITED, CSRF_REFUSED, ORIGIN_REFUSED and FORBIDDEN_ROLE. */
export async function admitPerson(
  route: Asked,
  caller: PersonCaller,
  world: PersonWorld,
  guard: PageGuard,
): Promise<Admitted> {
  const { credentials } = world;
  if (!credentials.required) return { env: admitCaller(route.access, caller, credentials), actor: devActor };
  if (route.access === "sign-in") return { env: defaultEnv, actor: programActor };
  const admitted = await identify(caller, world, guard);
  if (admitted.actor.role === "viewer" && isChange(caller.method) && route.viewerMay !== true) {
    throw errors.FORBIDDEN_ROLE({ role: "viewer" });
  }
  return admitted;
}

async function identify(
  caller: PersonCaller,
  { credentials, people, settings }: PersonWorld,
  guard: PageGuard,
): Promise<Admitted> {
  const { headers, address } = caller;
  // The password opens every environment, so its bearer says which.
  const env = () => namedEnv("operator", caller) ?? defaultEnv;
  const password = basicPasswordOf(headers.authorization);
  if (password !== null) {
    return { env: env(), actor: passwordActor(await people.roleOfPassword(password, address)) };
  }
  const token =
    headers.authorization === undefined ? sessionTokenOf(headers.cookie, settings.secureCookies === true) : null;
  if (token === null) {
    const keyEnv = admitCaller("signing-key", caller, credentials);
    return { env: keyEnv, actor: keyActor(keyEnv) };
  }
  const session = await people.session(token);
  if (session === null) throw errors.UNAUTHORIZED({ why: "its session has ended; sign in again" });
  if (isChange(caller.method)) {
    guard.checkOwnPage(headers);
    if (!isSame(headers[csrfHeader] ?? "", session.csrf)) {
      const why = headers[csrfHeader] === undefined ? "is missing" : "is not the session's";
      throw errors.CSRF_REFUSED({ why });
    }
  }
  return { env: env(), actor: sessionActor(session) };
}

export const isChange = (method: string): boolean => method !== "GET" && method !== "HEAD";

const isSame = (a: string, b: string): boolean => timingSafeEqual(digestOf(a), digestOf(b));

const digestOf = (text: string): Buffer => createHash("sha256").update(text).digest();
