// What the Runs page asks the server: groups, totals, and who asked for a group.
import type { EventGroup } from "../../../../idem/src/server/api/event-groups.ts";
import type { FunctionGroup } from "../../../../idem/src/server/api/function-groups.ts";
import type { GroupedRun, GroupItem } from "../../../../idem/src/server/api/group-shape.ts";
import { getJson, type Params } from "../../api/client.ts";

export type { EventGroup, FunctionGroup, GroupedRun, GroupItem };

export interface Pinned {
  /** The newest three. */
  readonly groups: readonly GroupItem[];
  readonly count: number;
  /** False: there are more than were counted. */
  readonly isAll: boolean;
}

export interface GroupsAnswer {
  readonly groups: readonly GroupItem[];
  readonly functions: readonly FunctionGroup[];
  readonly events: readonly EventGroup[];
  readonly pinned: Pinned | null;
  readonly next: string | null;
}

export interface Counts {
  readonly asked: number;
  readonly first: number;
  readonly suppressed: number;
  readonly slipped: number;
}

export interface TotalsAnswer extends Counts {
  readonly since: number;
  readonly until: number;
  readonly functions: readonly (Counts & { readonly function: string })[];
  readonly bucketMs: number;
  readonly buckets: readonly (Counts & { readonly at: number })[];
  readonly isAll: boolean;
}

export interface Asker {
  readonly at: number;
  readonly eventId: string;
  readonly runId: string | null;
  readonly place: "first" | "slipped" | "maybe" | "rerun" | "suppressed";
  readonly kind: string | null;
  readonly sentence: string;
}

export interface AskersAnswer {
  readonly group: GroupItem;
  readonly askers: readonly Asker[];
  readonly isAll: boolean;
}

export const pageRows = 100;

export const fetchGroups = (params: Params, signal: AbortSignal): Promise<GroupsAnswer> =>
  getJson("api/groups", params, signal);
export const fetchTotals = (params: Params, signal: AbortSignal): Promise<TotalsAnswer> =>
  getJson("api/totals", params, signal);
export const fetchAskers = (group: string, signal: AbortSignal): Promise<AskersAnswer> =>
  getJson(`api/groups/${encodeURIComponent(group)}/askers`, {}, signal);
