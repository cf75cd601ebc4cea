// What the Runs page asks the server: groups, totals, and who asked for a group.
import type { EventGroup } from "../../../../idem/src/server/api/event-groups.ts";
import type { FunctionGroup } from "../../../../idem/src/server/api/function-groups.ts";
import type { GroupedRun, GroupItem } from "../../../../idem/src/server/api/group-shape.ts";
import type { TotalsItem } from "../../../../idem/src/server/api/totals-shape.ts";
import type { Asker } from "../../../../idem/src/server/routes/api/list-askers.ts";
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
  /** Of the same reading as the groups; null where they were not asked for. */
  readonly totals: TotalsAnswer | null;
  readonly next: string | null;
}

export type TotalsAnswer = TotalsItem;

export type { Asker };

export interface AskersAnswer {
  readonly group: GroupItem;
  readonly askers: readonly Asker[];
  /** Runs that slipped through and have not ended. */
  readonly laterOpen: readonly string[];
  readonly next: string | null;
}

export const pageRows = 100;

export const fetchGroups = (params: Params, signal: AbortSignal): Promise<GroupsAnswer> =>
  getJson("api/groups", params, signal);
export const fetchTotals = (params: Params, signal: AbortSignal): Promise<TotalsAnswer> =>
  getJson("api/totals", params, signal);
export const fetchAskers = (group: string, after: string | undefined, signal: AbortSignal): Promise<AskersAnswer> =>
  getJson(`api/groups/${encodeURIComponent(group)}/askers`, { after }, signal);
