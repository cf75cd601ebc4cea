import { useQuery } from "@tanstack/react-query";
import { getJson, sendJson } from "../../api/client.ts";

/** As /api/apps shows it. */
export interface App {
  readonly app: string;
  readonly url: string | null;
  readonly kind: "http" | "connect" | "endpoint";
  readonly sdk: string | null;
  readonly framework: string | null;
  readonly appVersion: string | null;
  readonly functionCount: number;
  readonly syncedAt: number | null;
  readonly error: string | null;
  readonly workers: number | null;
}

const askAgainMs = 10_000;

export const useApps = () =>
  useQuery({
    queryKey: ["apps"],
    queryFn: async ({ signal }) => (await getJson<{ apps: readonly App[] }>("api/apps", {}, signal)).apps,
    refetchInterval: askAgainMs,
  });

export const addApp = (url: string) => sendJson<{ modified: boolean; app: App | null }>("POST", "api/apps", { url });
