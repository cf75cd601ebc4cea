// The one time limit there is: a session that nobody uses ends. Two minutes before, the page says so.
import { useQueryClient } from "@tanstack/react-query";
import { useEffect } from "react";
import { sessionKey, useSession } from "../api/session.ts";
import { useNow } from "../parts/now.ts";
import { say } from "./messages.ts";

const warnedMs = 2 * 60_000;

export function SessionEnd() {
  const { data } = useSession();
  const queries = useQueryClient();
  const endsAt = data?.endsAt ?? null;
  const now = useNow(endsAt === null ? null : endsAt - warnedMs);
  const isNear = endsAt !== null && endsAt - now < warnedMs;
  useEffect(() => {
    if (!isNear) return;
    // Whatever the page asked meanwhile may have moved the end.
    void queries.refetchQueries({ queryKey: sessionKey }).then(() => {
      const ends = (queries.getQueryData(sessionKey) as { endsAt: number | null } | undefined)?.endsAt ?? null;
      if (ends !== null && ends - Date.now() < warnedMs)
        say("Your session ends in 2 minutes. What you have not sent will be asked for again after signing in.", {
          tone: "note",
        });
    });
  }, [isNear, queries]);
  return null;
}
