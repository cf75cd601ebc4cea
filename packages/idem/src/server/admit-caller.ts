// Admits the callers of a route, and finds their environment. In dev everybody may; the header says the environment.
import { errors } from "../model/errors.ts";
import type { Credentials } from "./credentials.ts";
import type { Access } from "./route.ts";

export const defaultEnv = "default";

export interface Caller {
  readonly params: Readonly<Record<string, string>>;
  readonly headers: Readonly<Record<string, string | undefined>>;
  readonly query: URLSearchParams;
}

/** Throws UNAUTHORIZED, which says what was missing and never repeats what was given. */
export function admitCaller(access: Access, caller: Caller, credentials: Credentials): string {
  const { headers } = caller;
  if (!credentials.required) return namedEnv(access, caller) ?? defaultEnv;
  switch (access) {
    case "open":
      return defaultEnv;
    case "event-key":
      return known(credentials.envOfEventKey(caller.params.key ?? ""), "its event key is not known here");
    case "signing-key":
      return known(credentials.envOfBearer(headers.authorization), bearerWhy(headers.authorization));
    // People are admitted by admit-person.ts; nobody comes here for them but where no key is asked for.
    case "operator":
    case "sign-in":
      throw errors.UNAUTHORIZED({ why: "it is for people" });
  }
}

function known(env: string | null, why: string): string {
  if (env === null) throw errors.UNAUTHORIZED({ why });
  return env;
}

const bearerWhy = (authorization: string | undefined): string =>
  authorization === undefined ? "it has no Authorization header" : "its signing key is not known here";

/** Pages open streams, which cannot carry headers; operators may say the environment in the query as well. */
export function namedEnv(access: Access, { headers, query }: Caller): string | null {
  const name = headers["x-inngest-env"] ?? (access === "operator" ? query.get("env") : null);
  if (name === null || name === "") return null;
  checkEnvName(name);
  return name;
}

// Branches are environments, and branches have slashes.
const envName = /^[A-Za-z0-9][A-Za-z0-9._/-]{0,127}$/;

export function checkEnvName(name: string): void {
  if (!envName.test(name)) {
    throw errors.REQUEST_INVALID({
      why: "the environment's name must be 1 to 128 letters, digits, dots, dashes, underscores or slashes",
    });
  }
}
