// The events that are known by name, and what apps told about their data.
import { useQuery } from "@tanstack/react-query";
import { type Answer, ask } from "../../api/client.ts";

export type EventType = Answer<"GET /api/event-types">["eventTypes"][number];

/** With a function's name, those that start it, as its own app has them. */
export const useEventTypes = (fn?: string) =>
  useQuery({
    queryKey: ["event-types", fn ?? ""],
    queryFn: async ({ signal }) => (await ask("GET /api/event-types", { query: { function: fn }, signal })).eventTypes,
    staleTime: 30_000,
  });
