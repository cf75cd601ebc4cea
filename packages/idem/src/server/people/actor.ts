// The caller: their permissions, and their name in the audit.
import type { Store } from "../../store/store.ts";
import type { World } from "../world.ts";
import type { Session } from "./sessions.ts";

/** `viewer` looks, `operator` acts. */
export type Role = "operator" | "viewer";

export interface Actor {
  readonly role: Role;
  /** For the audit: "operator session 3f9a1c", "signing key of staging", "password", "dev". Never what was shown to get in. */
  readonly name: string;
  /** Null without a cookie. */
  readonly session: Session | null;
  /** The only environment they may hear of; null for all of them. */
  readonly onlyEnv: string | null;
  /** Somebody in front of a page, rather than a tool: what tools do a thousand times an hour is not noted one by one. */
  readonly isPerson: boolean;
}

/** Everybody who reaches `idem dev`, which asks nobody. */
export const devActor: Actor = { role: "operator", name: "dev", session: null, onlyEnv: null, isPerson: false };

/** Programs with an event key, a signing key or none, on routes no person acts through. */
export const programActor: Actor = { role: "viewer", name: "", session: null, onlyEnv: null, isPerson: false };

export const keyActor = (env: string): Actor => ({
  role: "operator",
  name: `signing key of ${env}`,
  session: null,
  onlyEnv: env,
  isPerson: false,
});

export const passwordActor = (role: Role): Actor => ({
  role,
  name: role === "operator" ? "password" : "viewer password",
  session: null,
  onlyEnv: null,
  isPerson: false,
});

export const sessionActor = (session: Session): Actor => ({
  role: session.role,
  name: sessionName(session),
  session,
  onlyEnv: null,
  isPerson: true,
});

export const sessionName = ({ role, mark }: Pick<Session, "role" | "mark">): string => `${role} session ${mark}`;

/** Whether the store has environments that the caller may not hear of. */
export async function hasOthers(
  { credentials, engines }: Pick<World, "credentials" | "engines">,
  { onlyEnv }: Actor,
  { reads }: Pick<Store, "reads">,
): Promise<boolean> {
  if (onlyEnv === null) return false;
  const known = [...credentials.environments, ...engines.keys(), ...(await reads.environments())];
  return known.some((env) => env !== onlyEnv);
}
