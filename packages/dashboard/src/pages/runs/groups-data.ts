// The Runs page's questions to the server: groups, totals, and who asked for a group.
import { type Answer, ask, type Query } from "../../api/client.ts";

export type GroupsAnswer = Answer<"GET /api/groups">;
export type GroupItem = GroupsAnswer["groups"][number];
export type GroupedRun = GroupItem["runs"][number];
export type FunctionGroup = GroupsAnswer["functions"][number];
export type EventGroup = GroupsAnswer["events"][number];
export type Pinned = NonNullable<GroupsAnswer["pinned"]>;
export type Matching = NonNullable<GroupsAnswer["matching"]>;
export type Ordered = NonNullable<GroupsAnswer["ordered"]>;
export type TotalsAnswer = Answer<"GET /api/totals">;
type AskersAnswer = Answer<"GET /api/groups/:group/askers">;
export type Asker = AskersAnswer["askers"][number];

export const pageRows = 100;

export const fetchGroups = (query: Query<"GET /api/groups">, signal: AbortSignal): Promise<GroupsAnswer> =>
  ask("GET /api/groups", { query, signal });
export const fetchTotals = (query: Query<"GET /api/totals">, signal: AbortSignal): Promise<TotalsAnswer> =>
  ask("GET /api/totals", { query, signal });
export const fetchAskers = (group: string, after: string | undefined, signal: AbortSignal): Promise<AskersAnswer> =>
  ask("GET /api/groups/:group/askers", { params: { group }, query: { after }, signal });
