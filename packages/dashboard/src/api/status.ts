// What the server is. Its clock is the one windows end by.
import { useQuery } from "@tanstack/react-query";
import { setServerNow } from "../parts/now.ts";
import { getJson } from "./client.ts";

interface QuotaCounts {
  readonly requests: number;
  readonly events: number;
  readonly bytes: number;
}

interface QuotaKey {
  readonly place: number;
  readonly used: QuotaCounts;
  readonly refused: QuotaCounts;
}

export interface Status {
  readonly version: string;
  readonly mode: "dev" | "start";
  /** Beside an application's own engine: providers cannot deliver here, and nobody signs in. */
  readonly isMounted: boolean;
  readonly store: string;
  readonly env: string;
  readonly environments: readonly string[];
  readonly now: number;
  readonly functions: { readonly count: number; readonly paused: number; readonly withoutKey: number };
  /** What may be sent with one event key in a window; null where there is no bound. */
  readonly eventQuota: (QuotaCounts & { readonly windowMs: number; readonly keys: readonly QuotaKey[] }) | null;
  readonly runs: { readonly queued: number; readonly running: number; readonly waiting: number; readonly due: number };
}

export const useStatus = () =>
  useQuery({
    queryKey: ["status"],
    queryFn: async ({ signal }) => {
      const status = await getJson<Status>("api/status", {}, signal);
      setServerNow(status.now);
      return status;
    },
    staleTime: 30_000,
    refetchInterval: 60_000,
  });
