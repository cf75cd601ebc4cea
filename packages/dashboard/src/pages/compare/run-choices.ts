// The runs that one is likely to be compared with: those of its key, and the newest of its function.
import { useQuery } from "@tanstack/react-query";
import { ask } from "../../api/client.ts";
import { cutMiddle } from "../../parts/id.tsx";
import { instantOf } from "../../parts/time-words.ts";
import { useSettings } from "../../settings.ts";
import type { GroupItem, RunDetail } from "../run/run-data.ts";

const newestShown = 25;

export interface RunChoice {
  readonly value: string;
  readonly text: string;
}

export function useRunChoices(
  { id, function: fn }: Pick<RunDetail, "id" | "function">,
  group: GroupItem | undefined,
): RunChoice[] {
  const utc = useSettings().zone === "utc";
  const { data } = useQuery({
    queryKey: ["runs to compare", fn],
    queryFn: ({ signal }) => ask("GET /api/runs", { query: { function: fn, limit: newestShown }, signal }),
  });
  const now = Date.now();
  const ofKey = (group?.runs ?? []).map(({ id: value, kind }, i) => ({
    value,
    text: `Run ${i + 1} of the key${kind === "rerun" ? ", rerun" : ""} · ${cutMiddle(value)}`,
  }));
  const known = new Set([id, ...ofKey.map(({ value }) => value)]);
  const newest = (data?.runs ?? [])
    .filter((each) => !known.has(each.id))
    .map(({ id: value, createdAt, state, key }) => ({
      value,
      text: `${instantOf(createdAt, now, { utc, millis: false })}, ${state}${key === null ? "" : `, key ${key.slice(0, 40)}`} · ${cutMiddle(value)}`,
    }));
  return [...ofKey, ...newest];
}
