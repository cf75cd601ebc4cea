// The person at this page. A server that asks nobody to sign in has no session, and everybody may act.
import { useQuery } from "@tanstack/react-query";
import { type Answer, ApiError, ask, setCsrf } from "./client.ts";

type SessionAnswer = Answer<"GET /api/session">;

export interface Session extends SessionAnswer {
  /** False where nobody signs in: there is nothing to sign out of. */
  readonly isSignedIn: boolean;
}

export function sessionOf(session: SessionAnswer): Session {
  setCsrf(session.csrf);
  return { ...session, isSignedIn: session.csrf !== null };
}

const nobody: SessionAnswer = { role: "operator", actor: "", csrf: null, startedAt: null, endsAt: null };

async function readSession({ signal }: { signal: AbortSignal }): Promise<Session> {
  try {
    return sessionOf(await ask("GET /api/session", { signal }));
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return sessionOf(nobody);
    throw error;
  }
}

export const sessionKey = ["session"] as const;

export const useSession = () =>
  useQuery({ queryKey: sessionKey, queryFn: readSession, staleTime: 60_000, retry: false });

/** Until it is known, buttons are live: the server refuses what must be refused. */
export const useMayAct = (): boolean => useSession().data?.role !== "viewer";
