// Inputs and answers of cancel, rerun and unpark.

import type { LaneUse } from "../flow/lane.ts";
import type { StartFlow } from "../flow/plan.ts";
import type { EndState, ParkReason, RunState } from "../model/run.ts";
import type { NestedIngest, WokenRun } from "./advance.ts";
import type { ByHand } from "./audit.ts";
import type { Ingested, StaleRegistration } from "./ingest.ts";
import type { LeasedJob } from "./leases.ts";

export interface CancelInput {
  readonly env: string;
  readonly runId: string;
  readonly result: string;
  readonly releaseKey: boolean;
  readonly ingest: NestedIngest | null;
  /** Absent where an event or a program cancels it. */
  readonly byHand?: ByHand | undefined;
}

export type CancelAnswer =
  | {
      readonly kind: "cancelled";
      readonly woken: readonly WokenRun[];
      readonly ingested: Ingested | null;
      readonly freed: boolean;
    }
  | { readonly kind: "already-ended"; readonly state: EndState }
  | StaleRegistration
  | { readonly kind: "unknown" };

export interface RerunInput {
  readonly env: string;
  readonly runId: string;
  readonly newRunId: string;
  readonly rank: number;
  readonly leaseTo: string | null;
  /** As of a start. */
  readonly code?: string | null;
  /** Limits and cancelling events hold for a rerun too; what may refuse a start and buffers do not: a person asked. */
  readonly lane: LaneUse | null;
  readonly cancelOn: StartFlow["cancelOn"];
  /** Begin at this step: outcomes recorded before its own come along, it and all others run again. Absent: from the start. */
  readonly from?: {
    readonly stepId: string;
    /** The id its author wrote. */
    readonly name: string;
    /** JSON list of the arguments to run it with; null for its own. Inputs edited in the old run for steps not kept stay. */
    readonly input: string | null;
  };
  /** JSON text that takes the place of its event's data; not with `from`. Absent: as the old run had it. */
  readonly data?: string;
  /** Absent where it is one of many that were asked for together. */
  readonly byHand?: ByHand | undefined;
}

export type RerunAnswer =
  | { readonly kind: "started"; readonly runId: string; readonly leased: LeasedJob | null }
  | { readonly kind: "unknown" };

export interface UnparkInput {
  readonly env: string;
  readonly runId: string;
  /** Absent where it is one of many that were asked for together. */
  readonly byHand?: ByHand | undefined;
}

export type UnparkAnswer =
  /** It is due, with its entries counted from the start. */
  | { readonly kind: "released"; readonly fn: string; readonly from: ParkReason }
  | { readonly kind: "not-parked"; readonly state: RunState }
  | { readonly kind: "unknown" };
