// The events that are known by name, and what apps told about their data.
import { useQuery } from "@tanstack/react-query";
import type { EventType } from "../../../../idem/src/server/api/event-types.ts";
import { getJson } from "../../api/client.ts";

/** With a function's name, those that start it, as its own app has them. */
export const useEventTypes = (fn?: string) =>
  useQuery({
    queryKey: ["event-types", fn ?? ""],
    queryFn: async ({ signal }) =>
      (await getJson<{ eventTypes: readonly EventType[] }>("api/event-types", { function: fn }, signal)).eventTypes,
    staleTime: 30_000,
  });
