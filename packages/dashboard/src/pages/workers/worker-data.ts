import { useQuery } from "@tanstack/react-query";
import { type Answer, ask } from "../../api/client.ts";

export type Worker = Answer<"GET /api/workers">["workers"][number];

// A worker beats every few seconds.
const askAgainMs = 5_000;

export const useWorkers = () =>
  useQuery({
    queryKey: ["workers"],
    queryFn: ({ signal }) => ask("GET /api/workers", { signal }),
    refetchInterval: askAgainMs,
  });

export const nodeName = ({ node, id }: Pick<Worker, "node" | "id">): string => node ?? id;
