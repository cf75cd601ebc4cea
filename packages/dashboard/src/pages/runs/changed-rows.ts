// Rows further down than the newest page change in place too: digests name the groups that changed, and only those are read again.
import { useCallback, useEffect, useMemo, useRef, useState } from "react";
import { useFollow } from "../../api/follow.ts";
import { type Digest, useDigests } from "../../api/live.ts";
import { fetchGroups, type GroupItem, pageRows } from "./groups-data.ts";

const none: ReadonlyMap<string, GroupItem> = new Map();

/** `filter` names what is listed: for another filter nothing is kept. `rowsAbove` were let go over the first row. */
export function useChangedRows(rows: readonly GroupItem[], filter: string, rowsAbove: number): readonly GroupItem[] {
  const [changed, setChanged] = useState(none);
  const newestRows = Math.max(0, pageRows - rowsAbove);
  // The newest page is read as a whole whenever anything changes.
  const further = useMemo(() => new Set(rows.slice(newestRows).map(({ id }) => id)), [rows, newestRows]);
  const wanted = useRef(new Set<string>());
  useDigests(
    useCallback(
      (digest: Digest | null) => {
        for (const id of digest?.groups ?? []) if (further.has(id)) wanted.current.add(id);
      },
      [further],
    ),
  );
  useFollow(
    useCallback(async () => {
      const ids = [...wanted.current].slice(0, pageRows);
      if (ids.length === 0) return;
      for (const id of ids) wanted.current.delete(id);
      const { groups } = await fetchGroups({ ids: ids.join(",") }, AbortSignal.timeout(10_000));
      setChanged((before) => new Map([...before, ...groups.map((group) => [group.id, group] as const)]));
    }, []),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: another filter is the reason to forget
  useEffect(() => {
    wanted.current.clear();
    setChanged(none);
  }, [filter]);
  return useMemo(
    () => (changed.size === 0 ? rows : rows.map((row, i) => (i < newestRows ? row : (changed.get(row.id) ?? row)))),
    [rows, changed, newestRows],
  );
}
