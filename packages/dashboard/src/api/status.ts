// What the server is. Its clock is the one windows end by.
import { useQuery } from "@tanstack/react-query";
import { useCallback } from "react";
import { setServerNow } from "../parts/now.ts";
import { type Answer, ask } from "./client.ts";
import { type Digest, useDigests } from "./live.ts";

export type Status = Answer<"GET /api/status">;

export const useStatus = () =>
  useQuery({
    queryKey: ["status"],
    queryFn: async ({ signal }) => {
      const status = await ask("GET /api/status", { signal });
      setServerNow(status.now);
      return status;
    },
    staleTime: 5_000,
  });

/** Reads it again where the stream says that functions were registered; once for the whole page, in its frame. */
export function useFreshStatus(): void {
  const { data, refetch } = useStatus();
  const registration = data?.registration;
  useDigests(
    useCallback(
      (digest: Digest | null) => {
        if (digest === null || digest.registration !== registration) void refetch();
      },
      [refetch, registration],
    ),
  );
}
