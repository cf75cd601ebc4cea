// Who looks at this page. A server that asks nobody to sign in has no session to tell of, and everybody may act.
import { useQuery } from "@tanstack/react-query";
import { ApiError, getJson, setCsrf } from "./client.ts";

export type Role = "operator" | "viewer";

export interface Session {
  readonly role: Role;
  /** What the audit calls them. */
  readonly actor: string;
  readonly csrf: string | null;
  /** When it ends if nothing more is asked; null where nobody signs in. */
  readonly endsAt: number | null;
  /** False where nobody signs in: there is nothing to sign out of. */
  readonly isSignedIn: boolean;
}

export interface SessionAnswer {
  readonly role?: Role;
  readonly actor?: string;
  readonly csrf?: string | null;
  readonly endsAt?: number | null;
}

export function sessionOf({ role, actor, csrf, endsAt }: SessionAnswer): Session {
  setCsrf(csrf ?? null);
  return {
    role: role ?? "operator",
    actor: actor ?? "",
    csrf: csrf ?? null,
    endsAt: endsAt ?? null,
    isSignedIn: csrf !== null && csrf !== undefined,
  };
}

async function readSession({ signal }: { signal: AbortSignal }): Promise<Session> {
  try {
    return sessionOf(await getJson<SessionAnswer>("api/session", {}, signal));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return sessionOf({});
    throw error;
  }
}

export const sessionKey = ["session"] as const;

export const useSession = () =>
  useQuery({ queryKey: sessionKey, queryFn: readSession, staleTime: 60_000, retry: false });

/** Until it is known, buttons are live: the server refuses what must be refused. */
export const useMayAct = (): boolean => useSession().data?.role !== "viewer";
