// From a group to what differed between its first two runs.
import { useNavigate } from "@tanstack/react-router";
import { useCallback } from "react";
import { comparedRuns } from "./group-words.ts";
import type { GroupItem } from "./groups-data.ts";

/** Opens the comparison; a group that ran once has none. */
export function useCompare(): (group: GroupItem | undefined) => void {
  const navigate = useNavigate();
  return useCallback(
    (group) => {
      const runs = group === undefined ? null : comparedRuns(group);
      if (runs !== null)
        void navigate({ to: "/runs/$run/compare/$other", params: { run: runs[0].id, other: runs[1].id } });
    },
    [navigate],
  );
}
