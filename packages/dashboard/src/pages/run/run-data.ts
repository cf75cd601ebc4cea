// What the server tells of one run, by the names its API has for it.
import type { z } from "zod";
import type { effectItem } from "../../../../idem/src/server/api/effect-shape.ts";
import type { EventItem, eventDetail } from "../../../../idem/src/server/api/event-shape.ts";
import type { GroupItem } from "../../../../idem/src/server/api/group-shape.ts";
import type { cancelItem, lineItem } from "../../../../idem/src/server/api/outlook-shape.ts";
import type { RunItem, runDetail, timelineEntry } from "../../../../idem/src/server/api/run-shape.ts";

export type { GroupItem, RunItem };
export type EffectItem = z.infer<typeof effectItem>;
export type EventDetail = z.infer<typeof eventDetail>;
export type TimelineEntry = z.infer<typeof timelineEntry>;
export type TimelineAttempt = TimelineEntry["attempts"][number];
export type RunDetail = z.infer<typeof runDetail> & {
  readonly line: readonly z.infer<typeof lineItem>[];
  readonly cancelOn: readonly z.infer<typeof cancelItem>[];
};
export type ErrorItem = NonNullable<RunDetail["error"]>;

export interface RunAnswer {
  readonly run: RunDetail;
  readonly event: EventItem;
  readonly events: readonly EventDetail[];
  readonly spared: readonly unknown[];
  /** The processes behind the workers of its attempts. */
  readonly workers: Readonly<Record<string, string>>;
}

export const isOpen = ({ state }: Pick<RunItem, "state">): boolean =>
  state === "queued" || state === "running" || state === "waiting" || state === "parked";
