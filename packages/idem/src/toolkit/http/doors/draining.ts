// The process stops, and another one goes on with what may be resumed: the caller is told at once to come back.
import type { RouteOptions, Ticket } from "../begin.ts";
import { problemResponse } from "../problems.ts";

export function onDraining(ticket: Ticket, route: RouteOptions, hear: (answer: Response) => void): void {
  if (route.onCrash !== "resume") return;
  const { signal } = ticket.context;
  const look = () => {
    if (signal.reason === "draining") hear(problemResponse("draining"));
  };
  if (signal.aborted) look();
  else signal.addEventListener("abort", look, { once: true });
}
