import { useQuery } from "@tanstack/react-query";
import { type Answer, ask } from "../../api/client.ts";

export type App = Answer<"GET /api/apps">["apps"][number];

const askAgainMs = 10_000;

export const useApps = () =>
  useQuery({
    queryKey: ["apps"],
    queryFn: async ({ signal }) => (await ask("GET /api/apps", { signal })).apps,
    refetchInterval: askAgainMs,
  });

export const addApp = (url: string) => ask("POST /api/apps", { body: { url } });
