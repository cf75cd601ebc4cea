// Who looks at this page. A server that asks nobody to sign in has no session to tell of, and everybody may act.
import { useQuery } from "@tanstack/react-query";
import { ApiError, getJson, setCsrf } from "./client.ts";

export type Role = "operator" | "viewer";

export interface Session {
  readonly role: Role;
  readonly csrf: string | null;
  /** False where nobody signs in: there is nothing to sign out of. */
  readonly isSignedIn: boolean;
}

async function readSession({ signal }: { signal: AbortSignal }): Promise<Session> {
  try {
    const { role, csrf } = await getJson<{ role?: Role; csrf?: string | null }>("api/session", {}, signal);
    setCsrf(csrf ?? null);
    return { role: role ?? "operator", csrf: csrf ?? null, isSignedIn: csrf !== null && csrf !== undefined };
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return { role: "operator", csrf: null, isSignedIn: false };
    throw error;
  }
}

export const sessionKey = ["session"] as const;

export const useSession = () => useQuery({ queryKey: sessionKey, queryFn: readSession, staleTime: 60_000, retry: false });

/** Until it is known, buttons are live: the server refuses what must be refused. */
export const useMayAct = (): boolean => useSession().data?.role !== "viewer";
