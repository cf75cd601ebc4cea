// The server's answers about one run, by the names its API has for them.
import type { Answer } from "../../api/client.ts";

export type RunAnswer = Answer<"GET /api/runs/:run">;
export type RunDetail = RunAnswer["run"];
export type RunItem = Answer<"GET /api/runs">["runs"][number];
export type TimelineEntry = RunDetail["timeline"][number];
export type TimelineAttempt = TimelineEntry["attempts"][number];
export type MetadataItem = RunDetail["metadata"][number];
export type ErrorItem = NonNullable<RunDetail["error"]>;
export type EventDetail = RunAnswer["events"][number];
export type EffectItem = Answer<"GET /api/runs/:run/effects">["effects"][number];
export type GroupItem = Answer<"GET /api/runs/:run/group">["group"];

export const isOpen = ({ state }: Pick<RunItem, "state">): boolean =>
  state === "queued" || state === "running" || state === "waiting" || state === "parked";
