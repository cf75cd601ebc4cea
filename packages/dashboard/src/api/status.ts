// What the server is. Its clock is the one windows end by.
import { useQuery } from "@tanstack/react-query";
import { setServerNow } from "../parts/now.ts";
import { type Answer, ask } from "./client.ts";

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
    // An app that registers says nothing in the stream: its functions are counted here.
    refetchInterval: 10_000,
  });
