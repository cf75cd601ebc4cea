// What the server tells of one run, by the names its API has for it.
import type { z } from "zod";
import type { eventDetail, eventItem } from "../../../../idem/src/server/api/event-shape.ts";
import type { runItem, timelineEntry } from "../../../../idem/src/server/api/run-shape.ts";
import type { readRun } from "../../../../idem/src/server/routes/read-run.ts";

export type RunItem = z.infer<typeof runItem>;
export type TimelineEntry = z.infer<typeof timelineEntry>;
export type TimelineAttempt = TimelineEntry["attempts"][number];
export type EventItem = z.infer<typeof eventItem>;
export type EventDetail = z.infer<typeof eventDetail>;
export type RunAnswer = z.infer<NonNullable<(typeof readRun)["answer"]>>;
export type RunDetail = RunAnswer["run"];
export type ErrorItem = NonNullable<RunDetail["error"]>;

export const isOpen = ({ state }: Pick<RunItem, "state">): boolean => state === "queued" || state === "running" || state === "waiting";
